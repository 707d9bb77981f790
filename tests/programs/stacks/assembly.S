// Hand-written assembly as video codecs have it: no call frame information, no frame pointers, no sizes. Called by assembly_main.c.
        .text
        .intel_syntax noprefix

// A leaf that does not touch the stack.
        .globl  asm_leaf
        .p2align 4
asm_leaf:
        mov     eax, edi
        mov     ecx, 20000
1:      imul    eax, eax, 1103515245
        add     eax, 12345
        dec     ecx
        jnz     1b
        ret

// Pushes, a frame, and stack memory full of what earlier calls left there.
        .globl  asm_pushes
        .p2align 4
asm_pushes:
        push    rbp
        push    rbx
        push    r12
        sub     rsp, 0x108
        mov     ebp, edi
        mov     r12d, 20000
        mov     eax, edi
1:      imul    eax, eax, 1103515245
        add     eax, ebp
        mov     ebx, eax
        dec     r12d
        jnz     1b
        add     rsp, 0x108
        pop     r12
        pop     rbx
        pop     rbp
        ret

// A stack that is aligned by hand, with the old stack pointer kept on it.
        .globl  asm_aligned
        .p2align 4
asm_aligned:
        mov     rax, rsp
        sub     rsp, 0x88
        and     rsp, -64
        mov     [rsp + 0x40], rax
        mov     eax, edi
        mov     ecx, 20000
1:      imul    eax, eax, 1103515245
        add     eax, ecx
        mov     [rsp], eax
        dec     ecx
        jnz     1b
        mov     rsp, [rsp + 0x40]
        ret

// Its stack pointer cannot be followed: how far it moves comes in a register. Nothing may be said about its caller.
        .globl  asm_unclear
        .p2align 4
asm_unclear:
        lea     r9, [rip + 3f]
        mov     r8, rsi
        sub     rsp, r8
        mov     eax, edi
        mov     ecx, 20000
1:      imul    eax, eax, 1103515245
        add     eax, ecx
        dec     ecx
        jnz     1b
        add     rsp, r8
        ret
3:      nop

// Calls back through a pointer.
        .globl  asm_calls
        .p2align 4
asm_calls:
        push    rbx
        sub     rsp, 0x20
        mov     ebx, edi
        mov     edi, esi
        call    rdx
        add     eax, ebx
        add     rsp, 0x20
        pop     rbx
        ret
        .section .note.GNU-stack,"",@progbits
