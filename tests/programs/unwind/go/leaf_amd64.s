#include "textflag.h"

// func oracleLeaf(out *registers): notes where it is, and the stack of its goroutine.
TEXT ·oracleLeaf(SB), NOSPLIT|NOFRAME, $0-8
	MOVQ 8(SP), AX
	LEAQ ·oracleLeaf(SB), CX
	MOVQ CX, 0(AX)
	MOVQ SP, 8(AX)
	MOVQ BP, 16(AX)
	MOVQ 0(SP), CX
	MOVQ CX, 24(AX)
	MOVQ (TLS), CX
	MOVQ 8(CX), CX
	MOVQ CX, 32(AX)
	RET
