"""Recursion and arithmetic in the interpreter, until killed."""


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


while True:
    fibonacci(20)
