"""The parse table. Made of grammar.lark by `python -m meshc.syntax.generate`; do not edit."""

# fmt: off
# ruff: noqa: E501
GRAMMAR_CRC = 270036410
PATTERNS: dict[str, str] = {'NAME': '[A-Za-z_][A-Za-z0-9_]*', 'PRIMED': "[A-Za-z_][A-Za-z0-9_]*'+", 'NUMBER': '[0-9][0-9_]*(\\.[0-9]+)?([eE][+-]?[0-9]+)?', 'STRING': '"([^"\\\\\n]|\\\\[^\n])*"', '_SEP': '[\n;]+'}
WORDS: tuple[str, ...] = ('!=', '%', '(', ')', '*', '**', '+', ',', '-', '->', '.', '..', '/', '//', ':', ':=', '<', '<=', '=', '==', '>', '>=', '@', '[', ']', 'and', 'as', 'by', 'dims', 'exchange', 'false', 'first', 'free', 'if', 'import', 'layer', 'loss', 'mesh', 'metric', 'model', 'none', 'not', 'of', 'or', 'over', 'param', 'partition', 'primitive', 'regroup', 'repeat', 'return', 'stage', 'state', 'strategy', 'true', 'where', 'whole', 'within', 'zigzag', '{', '}')
START, END = 0, 7
RULES: tuple[tuple[str, int, str, tuple[int, ...], bool], ...] = (
    ('<item>', 1, 'item', (0,), False),
    ('<item>', 1, 'item', (0,), False),
    ('<item>', 1, 'item', (0,), False),
    ('<item>', 1, 'item', (0,), False),
    ('<item>', 1, 'item', (0,), False),
    ('<item>', 1, 'item', (0,), False),
    ('<item>', 1, 'item', (0,), False),
    ('<item>', 1, 'item', (0,), False),
    ('<import>', 2, 'import', (1,), False),
    ('<import>', 4, 'import', (1, 3), False),
    ('<mesh>', 4, 'mesh', (2,), True),
    ('<mesh>', 3, 'mesh', (), False),
    ('<mesh>', 10, 'view', (1, 5, 8), True),
    ('<mesh>', 9, 'view', (1, 5), False),
    ('<_axes>', 2, 'splice', (0,), True),
    ('<_axes>', 1, 'splice', (0,), True),
    ('<_axis_list>', 1, 'splice', (0,), False),
    ('<_axis_list>', 3, 'splice', (0, 2), True),
    ('<_axis_list>', 3, 'splice', (0, 2), True),
    ('<_axis_list>', 4, 'splice', (0, 3), True),
    ('<axis>', 3, 'axis', (0, 2), False),
    ('<axis>', 3, 'rest', (0,), False),
    ('<dims>', 4, 'dims', (2,), True),
    ('<dims>', 3, 'dims', (), False),
    ('<_entries>', 2, 'splice', (0,), True),
    ('<_entries>', 1, 'splice', (0,), True),
    ('<_entry_list>', 1, 'splice', (0,), False),
    ('<_entry_list>', 3, 'splice', (0, 2), True),
    ('<_entry_list>', 3, 'splice', (0, 2), True),
    ('<_entry_list>', 4, 'splice', (0, 3), True),
    ('<entry>', 3, 'entry', (0, 2), False),
    ('<layer>', 4, 'layer', (1, 2, 3), False),
    ('<model>', 4, 'model', (1, 2, 3), False),
    ('<primitive>', 8, 'primitive', (1, 2, 4, 6, 7), False),
    ('<whole>', 0, 'nothing', (), False),
    ('<whole>', 2, 'nothing', (), False),
    ('<whole>', 4, 'dim_tuple', (2,), True),
    ('<strategy>', 4, 'strategy', (1, 2, 3), False),
    ('<partition>', 2, 'partition', (1,), False),
    ('<parameters>', 2, 'parameters', (), False),
    ('<parameters>', 4, 'parameters', (1,), True),
    ('<parameters>', 3, 'parameters', (1,), True),
    ('<_parameter_list>', 1, 'splice', (0,), False),
    ('<_parameter_list>', 3, 'splice', (0, 2), True),
    ('<parameter>', 2, 'parameter', (0, 1), False),
    ('<parameter>', 4, 'tensor', (0, 2, 3), False),
    ('<parameter>', 6, 'ids', (0, 2, 4, 5), False),
    ('<block>', 2, 'block', (), False),
    ('<block>', 3, 'block', (1,), True),
    ('<_statement_list>', 1, 'splice', (0,), False),
    ('<_statement_list>', 3, 'splice', (0, 2), True),
    ('<statement>', 7, 'matrix', (1, 3, 5, 6), False),
    ('<statement>', 8, 'bank', (1, 3, 4, 6, 7), False),
    ('<statement>', 5, 'array', (1, 3, 4), False),
    ('<statement>', 5, 'state', (1, 3, 4), False),
    ('<statement>', 3, 'assign', (0, 2), False),
    ('<statement>', 3, 'update', (0, 2), False),
    ('<statement>', 3, 'repeat', (1, 2), False),
    ('<statement>', 2, 'loss', (1,), False),
    ('<statement>', 4, 'metric', (1, 3), False),
    ('<statement>', 2, 'returns', (1,), True),
    ('<_expr_list>', 1, 'splice', (0,), False),
    ('<_expr_list>', 3, 'splice', (0, 2), True),
    ('<init>', 0, 'nothing', (), False),
    ('<init>', 2, 'initial', (1,), False),
    ('<rules>', 2, 'rules', (), False),
    ('<rules>', 3, 'rules', (1,), True),
    ('<_rule_list>', 1, 'splice', (0,), False),
    ('<_rule_list>', 3, 'splice', (0, 2), True),
    ('<rule>', 4, 'claim', (0, 2, 3), True),
    ('<rule>', 3, 'claim', (0, 2), False),
    ('<rule>', 7, 'first_claim', (2, 5, 6), True),
    ('<rule>', 6, 'first_claim', (2, 5), False),
    ('<rule>', 6, 'exchange', (1, 3, 5), False),
    ('<rule>', 4, 'stage', (1, 3), False),
    ('<rule>', 3, 'within', (1, 2), True),
    ('<rule>', 2, 'place', (0, 1), False),
    ('<rule>', 4, 'place_of', (0, 2, 3), False),
    ('<rule>', 3, 'condition', (1, 2), False),
    ('<rule>', 4, 'use', (0, 2), True),
    ('<rule>', 3, 'use', (0,), False),
    ('<axes>', 1, 'no_axes', (), False),
    ('<axes>', 1, 'only_axes', (0,), False),
    ('<axes>', 3, 'more_axes', (2,), False),
    ('<_flags>', 1, 'splice', (0,), False),
    ('<_flags>', 2, 'splice', (0, 1), True),
    ('<flag>', 1, 'flag', (0,), False),
    ('<flag>', 1, 'flag', (0,), False),
    ('<flag>', 2, 'flag', (0, 1), False),
    ('<expr>', 1, 'pass', (0,), False),
    ('<expr>', 3, 'binary', (0, 1, 2), False),
    ('<conjunction>', 1, 'pass', (0,), False),
    ('<conjunction>', 3, 'binary', (0, 1, 2), False),
    ('<negation>', 1, 'pass', (0,), False),
    ('<negation>', 2, 'unary', (0, 1), False),
    ('<comparison>', 1, 'pass', (0,), False),
    ('<comparison>', 3, 'binary', (0, 1, 2), False),
    ('<comparison>', 3, 'binary', (0, 1, 2), False),
    ('<comparison>', 3, 'binary', (0, 1, 2), False),
    ('<comparison>', 3, 'binary', (0, 1, 2), False),
    ('<comparison>', 3, 'binary', (0, 1, 2), False),
    ('<comparison>', 3, 'binary', (0, 1, 2), False),
    ('<sum>', 1, 'pass', (0,), False),
    ('<sum>', 3, 'binary', (0, 1, 2), False),
    ('<sum>', 3, 'binary', (0, 1, 2), False),
    ('<product>', 1, 'pass', (0,), False),
    ('<product>', 3, 'binary', (0, 1, 2), False),
    ('<product>', 3, 'binary', (0, 1, 2), False),
    ('<product>', 3, 'binary', (0, 1, 2), False),
    ('<product>', 3, 'binary', (0, 1, 2), False),
    ('<product>', 3, 'binary', (0, 1, 2), False),
    ('<factor>', 1, 'pass', (0,), False),
    ('<factor>', 2, 'unary', (0, 1), False),
    ('<power>', 1, 'pass', (0,), False),
    ('<power>', 3, 'binary', (0, 1, 2), False),
    ('<atom>', 1, 'number', (0,), False),
    ('<atom>', 1, 'pass', (0,), False),
    ('<atom>', 1, 'pass', (0,), False),
    ('<atom>', 1, 'ref', (0,), False),
    ('<atom>', 1, 'ref', (0,), False),
    ('<atom>', 4, 'call', (0, 2), True),
    ('<atom>', 3, 'call', (0,), False),
    ('<atom>', 6, 'named_call', (0, 2, 5), True),
    ('<atom>', 5, 'named_call', (0, 4), False),
    ('<atom>', 4, 'index', (0, 2), False),
    ('<atom>', 4, 'list', (1,), True),
    ('<atom>', 3, 'list', (1,), True),
    ('<atom>', 2, 'list', (), False),
    ('<atom>', 3, 'parens', (1,), False),
    ('<string>', 1, 'text', (0,), False),
    ('<literal>', 1, 'literal', (0,), False),
    ('<literal>', 1, 'literal', (0,), False),
    ('<literal>', 1, 'literal', (0,), False),
    ('<_arguments>', 2, 'splice', (0,), True),
    ('<_arguments>', 1, 'splice', (0,), True),
    ('<_argument_list>', 1, 'splice', (0,), False),
    ('<_argument_list>', 3, 'splice', (0, 2), True),
    ('<argument>', 1, 'positional', (0,), False),
    ('<argument>', 3, 'keyword', (0, 2), False),
    ('<names>', 1, 'names', (0,), True),
    ('<_name_list>', 1, 'splice', (0,), False),
    ('<_name_list>', 3, 'splice', (0, 2), True),
    ('<dim_list>', 1, 'dim_tuple', (0,), True),
    ('<_dim_list>', 1, 'splice', (0,), False),
    ('<_dim_list>', 3, 'splice', (0, 2), True),
    ('<brackets>', 2, 'dim_tuple', (), False),
    ('<brackets>', 4, 'dim_tuple', (1,), True),
    ('<brackets>', 3, 'dim_tuple', (1,), True),
    ('<dim>', 1, 'pass', (0,), False),
    ('<dim>', 1, 'pass', (0,), False),
    ('<primed>', 1, 'name', (0,), False),
    ('<staged>', 1, 'pass', (0,), False),
    ('<staged>', 1, 'pass', (0,), False),
    ('<_target_list>', 1, 'splice', (0,), False),
    ('<_target_list>', 3, 'splice', (0, 2), True),
    ('<path>', 1, 'pass', (0,), False),
    ('<path>', 3, 'dotted', (0, 2), False),
    ('<use_path>', 1, 'pass', (0,), False),
    ('<use_path>', 3, 'dotted', (0, 2), False),
    ('<callee>', 1, 'callee', (0,), False),
    ('<callee>', 1, 'callee', (0,), False),
    ('<callee>', 1, 'callee', (0,), False),
    ('<callee>', 1, 'callee', (0,), False),
    ('<callee>', 1, 'callee', (0,), False),
    ('<callee>', 1, 'callee', (0,), False),
    ('<callee>', 1, 'callee', (0,), False),
    ('<callee>', 1, 'callee', (0,), False),
    ('<callee>', 1, 'callee', (0,), False),
    ('<callee>', 1, 'callee', (0,), False),
    ('<callee>', 1, 'callee', (0,), False),
    ('<callee>', 1, 'callee', (0,), False),
    ('<callee>', 1, 'callee', (0,), False),
    ('<callee>', 1, 'callee', (0,), False),
    ('<callee>', 1, 'callee', (0,), False),
    ('<callee>', 1, 'callee', (0,), False),
    ('<callee>', 1, 'callee', (0,), False),
    ('<callee>', 1, 'callee', (0,), False),
    ('<callee>', 1, 'callee', (0,), False),
    ('<callee>', 1, 'callee', (0,), False),
    ('<callee>', 1, 'callee', (0,), False),
    ('<callee>', 1, 'callee', (0,), False),
    ('<callee>', 1, 'callee', (0,), False),
    ('<callee>', 1, 'callee', (0,), False),
    ('<name>', 1, 'name', (0,), False),
    ('<name>', 1, 'name', (0,), False),
    ('<name>', 1, 'name', (0,), False),
    ('<name>', 1, 'name', (0,), False),
    ('<name>', 1, 'name', (0,), False),
    ('<name>', 1, 'name', (0,), False),
    ('<name>', 1, 'name', (0,), False),
    ('<name>', 1, 'name', (0,), False),
    ('<name>', 1, 'name', (0,), False),
    ('<name>', 1, 'name', (0,), False),
    ('<name>', 1, 'name', (0,), False),
    ('<name>', 1, 'name', (0,), False),
    ('<name>', 1, 'name', (0,), False),
    ('<name>', 1, 'name', (0,), False),
    ('<name>', 1, 'name', (0,), False),
    ('<name>', 1, 'name', (0,), False),
    ('<name>', 1, 'name', (0,), False),
    ('<name>', 1, 'name', (0,), False),
    ('<name>', 1, 'name', (0,), False),
    ('<name>', 1, 'name', (0,), False),
    ('<name>', 1, 'name', (0,), False),
    ('<name>', 1, 'name', (0,), False),
    ('<name>', 1, 'name', (0,), False),
    ('<name>', 1, 'name', (0,), False),
    ('<name>', 1, 'name', (0,), False),
    ('<name>', 1, 'name', (0,), False),
)
STATES = """\
dims 365 import 361 layer 357 mesh 330 model 283 partition 281 primitive 268 strategy 10 <dims> 9 <import> 8 <item> 7 <layer> 6 <mesh> 5 <model> 4 <partition> 3 <primitive> 2 <strategy> 1
$END -7
$END -6
$END -8
$END -5
$END -2
$END -4

$END -1
$END -3
by 84 dims 83 exchange 82 first 80 free 79 import 78 layer 77 loss 76 mesh 60 metric 59 model 56 NAME 55 of 52 over 51 param 50 partition 49 primitive 47 regroup 46 repeat 45 stage 44 state 43 strategy 42 where 39 whole 38 within 37 zigzag 36 <name> 11
( 244 <parameters> 12
{ 14 <rules> 13
$END -38
by 241 dims 240 exchange 234 first 227 free 226 if 223 import 222 layer 221 loss 220 mesh 219 metric 218 model 217 NAME 216 of 52 over 215 param 214 partition 213 PRIMED 48 primitive 212 } 243 regroup 211 repeat 210 stage 204 state 203 strategy 202 where 201 whole 200 within 170 zigzag 169 <_dim_list> 166 <_rule_list> 163 <callee> 162 <dim> 161 <dim_list> 138 <name> 137 <primed> 136 <rule> 135 <use_path> 15
. 133 ( 16
by 84 dims 83 exchange 82 false 81 first 80 free 79 import 78 layer 77 loss 76 ( 72 [ 61 mesh 60 metric 59 - 57 model 56 NAME 55 none 54 not 70 NUMBER 53 of 52 over 51 param 50 partition 49 PRIMED 48 primitive 47 regroup 46 repeat 45 ) 132 stage 44 state 43 strategy 42 STRING 41 true 40 where 39 whole 38 within 37 zigzag 36 <_argument_list> 109 <_arguments> 130 <argument> 104 <atom> 33 <comparison> 69 <conjunction> 75 <expr> 103 <factor> 63 <literal> 31 <name> 100 <negation> 62 <path> 26 <power> 25 <primed> 24 <product> 28 <string> 21 <sum> 17
and -96 , -96 { -96 < 128 - 118 > 126 or -96 + 20 } -96 ) -96 ] -96 _SEP -96 == 124 != 122 <= 120 >= 18
by 84 dims 83 exchange 82 false 81 first 80 free 79 import 78 layer 77 loss 76 ( 72 [ 61 mesh 60 metric 59 - 57 model 56 NAME 55 none 54 NUMBER 53 of 52 over 51 param 50 partition 49 PRIMED 48 primitive 47 regroup 46 repeat 45 stage 44 state 43 strategy 42 STRING 41 true 40 where 39 whole 38 within 37 zigzag 36 <atom> 33 <factor> 63 <literal> 31 <name> 30 <path> 26 <power> 25 <primed> 24 <product> 28 <string> 21 <sum> 19
and -102 , -102 { -102 - 118 or -102 + 20 } -102 ) -102 ] -102 _SEP -102
by 84 dims 83 exchange 82 false 81 first 80 free 79 import 78 layer 77 loss 76 ( 72 [ 61 mesh 60 metric 59 - 57 model 56 NAME 55 none 54 NUMBER 53 of 52 over 51 param 50 partition 49 PRIMED 48 primitive 47 regroup 46 repeat 45 stage 44 state 43 strategy 42 STRING 41 true 40 where 39 whole 38 within 37 zigzag 36 <atom> 33 <factor> 63 <literal> 31 <name> 30 <path> 26 <power> 25 <primed> 24 <product> 22 <string> 21
and -117 @ -117 , -117 { -117 < -117 [ -117 - -117 > -117 or -117 % -117 + -117 } -117 ) -117 ] -117 / -117 * -117 _SEP -117 == -117 != -117 <= -117 >= -117 // -117 ** -117
and -104 @ 98 , -104 { -104 < -104 - -104 > -104 or -104 % 96 + -104 } -104 ) -104 ] -104 / 94 * 29 _SEP -104 == -104 != -104 <= -104 >= -104 // 23
by 84 dims 83 exchange 82 false 81 first 80 free 79 import 78 layer 77 loss 76 ( 72 [ 61 mesh 60 metric 59 - 57 model 56 NAME 55 none 54 NUMBER 53 of 52 over 51 param 50 partition 49 PRIMED 48 primitive 47 regroup 46 repeat 45 stage 44 state 43 strategy 42 STRING 41 true 40 where 39 whole 38 within 37 zigzag 36 <atom> 33 <factor> 117 <literal> 31 <name> 30 <path> 26 <power> 25 <primed> 24 <string> 21
and -120 @ -120 , -120 { -120 < -120 [ -120 - -120 > -120 or -120 % -120 + -120 } -120 ) -120 ] -120 / -120 * -120 _SEP -120 == -120 != -120 <= -120 >= -120 // -120 ** -120
and -112 @ -112 , -112 { -112 < -112 - -112 > -112 or -112 % -112 + -112 } -112 ) -112 ] -112 / -112 * -112 _SEP -112 == -112 != -112 <= -112 >= -112 // -112
and -119 @ -119 , -119 . 115 { -119 < -119 ( 27 [ -119 - -119 > -119 or -119 % -119 + -119 } -119 ) -119 ] -119 / -119 * -119 _SEP -119 == -119 != -119 <= -119 >= -119 // -119 ** -119
by 84 dims 83 exchange 82 false 81 first 80 free 79 import 78 layer 77 loss 76 ( 72 [ 61 mesh 60 metric 59 - 57 model 56 NAME 55 none 54 not 70 NUMBER 53 of 52 over 51 param 50 partition 49 PRIMED 48 primitive 47 regroup 46 repeat 45 ) 112 stage 44 state 43 strategy 42 STRING 41 true 40 where 39 whole 38 within 37 zigzag 36 <_argument_list> 109 <_arguments> 105 <argument> 104 <atom> 33 <comparison> 69 <conjunction> 75 <expr> 103 <factor> 63 <literal> 31 <name> 100 <negation> 62 <path> 26 <power> 25 <primed> 24 <product> 28 <string> 21 <sum> 17
and -103 @ 98 , -103 { -103 < -103 - -103 > -103 or -103 % 96 + -103 } -103 ) -103 ] -103 / 94 * 29 _SEP -103 == -103 != -103 <= -103 >= -103 // 23
by 84 dims 83 exchange 82 false 81 first 80 free 79 import 78 layer 77 loss 76 ( 72 [ 61 mesh 60 metric 59 - 57 model 56 NAME 55 none 54 NUMBER 53 of 52 over 51 param 50 partition 49 PRIMED 48 primitive 47 regroup 46 repeat 45 stage 44 state 43 strategy 42 STRING 41 true 40 where 39 whole 38 within 37 zigzag 36 <atom> 33 <factor> 32 <literal> 31 <name> 30 <path> 26 <power> 25 <primed> 24 <string> 21
and -156 @ -156 , -156 . -156 { -156 < -156 ( -156 [ -156 - -156 > -156 or -156 % -156 + -156 } -156 ) -156 ] -156 / -156 * -156 _SEP -156 == -156 != -156 <= -156 >= -156 // -156 ** -156
and -118 @ -118 , -118 { -118 < -118 [ -118 - -118 > -118 or -118 % -118 + -118 } -118 ) -118 ] -118 / -118 * -118 _SEP -118 == -118 != -118 <= -118 >= -118 // -118 ** -118
and -107 @ -107 , -107 { -107 < -107 - -107 > -107 or -107 % -107 + -107 } -107 ) -107 ] -107 / -107 * -107 _SEP -107 == -107 != -107 <= -107 >= -107 // -107
and -114 @ -114 , -114 { -114 < -114 [ 91 - -114 > -114 or -114 % -114 + -114 } -114 ) -114 ] -114 / -114 * -114 _SEP -114 == -114 != -114 <= -114 >= -114 // -114 ** 34
by 84 dims 83 exchange 82 false 81 first 80 free 79 import 78 layer 77 loss 76 ( 72 [ 61 mesh 60 metric 59 - 57 model 56 NAME 55 none 54 NUMBER 53 of 52 over 51 param 50 partition 49 PRIMED 48 primitive 47 regroup 46 repeat 45 stage 44 state 43 strategy 42 STRING 41 true 40 where 39 whole 38 within 37 zigzag 36 <atom> 33 <factor> 35 <literal> 31 <name> 30 <path> 26 <power> 25 <primed> 24 <string> 21
and -115 @ -115 , -115 { -115 < -115 - -115 > -115 or -115 % -115 + -115 } -115 ) -115 ] -115 / -115 * -115 _SEP -115 == -115 != -115 <= -115 >= -115 // -115
$END -203 and -203 @ -203 : -203 , -203 . -203 = -203 { -203 < -203 ( -203 [ -203 - -203 > -203 of -203 or -203 over -203 % -203 + -203 } -203 repeat -203 ) -203 ] -203 / -203 * -203 where -203 zigzag -203 _SEP -203 -> -203 := -203 == -203 != -203 <= -203 >= -203 // -203 ** -203
$END -200 and -200 @ -200 : -200 , -200 . -200 = -200 { -200 < -200 ( -200 [ -200 - -200 > -200 of -200 or -200 over -200 % -200 + -200 } -200 repeat -200 ) -200 ] -200 / -200 * -200 where -200 zigzag -200 _SEP -200 -> -200 := -200 == -200 != -200 <= -200 >= -200 // -200 ** -200
$END -208 and -208 @ -208 : -208 , -208 . -208 = -208 { -208 < -208 ( -208 [ -208 - -208 > -208 of -208 or -208 over -208 % -208 + -208 } -208 repeat -208 ) -208 ] -208 / -208 * -208 where -208 zigzag -208 _SEP -208 -> -208 := -208 == -208 != -208 <= -208 >= -208 // -208 ** -208
$END -201 and -201 @ -201 : -201 , -201 . -201 = -201 { -201 < -201 ( -201 [ -201 - -201 > -201 of -201 or -201 over -201 % -201 + -201 } -201 repeat -201 ) -201 ] -201 / -201 * -201 where -201 zigzag -201 _SEP -201 -> -201 := -201 == -201 != -201 <= -201 >= -201 // -201 ** -201
and -131 @ -131 , -131 { -131 < -131 [ -131 - -131 > -131 or -131 % -131 + -131 } -131 ) -131 ] -131 / -131 * -131 _SEP -131 == -131 != -131 <= -131 >= -131 // -131 ** -131
$END -130 and -130 as -130 @ -130 , -130 { -130 < -130 [ -130 - -130 > -130 or -130 % -130 + -130 } -130 ) -130 ] -130 / -130 * -130 _SEP -130 == -130 != -130 <= -130 >= -130 // -130 ** -130
$END -191 and -191 @ -191 : -191 , -191 . -191 = -191 { -191 < -191 ( -191 [ -191 - -191 > -191 of -191 or -191 over -191 % -191 + -191 } -191 repeat -191 ) -191 ] -191 / -191 * -191 where -191 zigzag -191 _SEP -191 -> -191 := -191 == -191 != -191 <= -191 >= -191 // -191 ** -191
$END -194 and -194 @ -194 : -194 , -194 . -194 = -194 { -194 < -194 ( -194 [ -194 - -194 > -194 of -194 or -194 over -194 % -194 + -194 } -194 repeat -194 ) -194 ] -194 / -194 * -194 where -194 zigzag -194 _SEP -194 -> -194 == -194 != -194 <= -194 >= -194 // -194 ** -194
$END -207 and -207 @ -207 : -207 , -207 . -207 = -207 { -207 < -207 ( -207 [ -207 - -207 > -207 of -207 or -207 over -207 % -207 + -207 } -207 repeat -207 ) -207 ] -207 / -207 * -207 where -207 zigzag -207 _SEP -207 -> -207 := -207 == -207 != -207 <= -207 >= -207 // -207 ** -207
$END -197 and -197 @ -197 : -197 , -197 . -197 = -197 { -197 < -197 ( -197 [ -197 - -197 > -197 of -197 or -197 over -197 % -197 + -197 } -197 repeat -197 ) -197 ] -197 / -197 * -197 where -197 zigzag -197 _SEP -197 -> -197 == -197 != -197 <= -197 >= -197 // -197 ** -197
$END -198 and -198 @ -198 : -198 , -198 . -198 = -198 { -198 < -198 ( -198 [ -198 - -198 > -198 of -198 or -198 over -198 % -198 + -198 } -198 repeat -198 ) -198 ] -198 / -198 * -198 where -198 zigzag -198 _SEP -198 -> -198 := -198 == -198 != -198 <= -198 >= -198 // -198 ** -198
$END -190 and -190 @ -190 : -190 , -190 . -190 = -190 { -190 < -190 ( -190 [ -190 - -190 > -190 of -190 or -190 over -190 % -190 + -190 } -190 repeat -190 ) -190 ] -190 / -190 * -190 where -190 zigzag -190 _SEP -190 -> -190 := -190 == -190 != -190 <= -190 >= -190 // -190 ** -190
and -151 @ -151 , -151 = -151 { -151 < -151 [ -151 - -151 > -151 of -151 or -151 over -151 % -151 + -151 } -151 ) -151 ] -151 / -151 * -151 _SEP -151 -> -151 == -151 != -151 <= -151 >= -151 // -151 ** -151
$END -192 and -192 @ -192 : -192 , -192 . -192 = -192 { -192 < -192 ( -192 [ -192 - -192 > -192 of -192 or -192 over -192 % -192 + -192 } -192 repeat -192 ) -192 ] -192 / -192 * -192 where -192 zigzag -192 _SEP -192 -> -192 := -192 == -192 != -192 <= -192 >= -192 // -192 ** -192
$END -193 and -193 @ -193 : -193 , -193 . -193 = -193 { -193 < -193 ( -193 [ -193 - -193 > -193 of -193 or -193 over -193 % -193 + -193 } -193 repeat -193 ) -193 ] -193 / -193 * -193 where -193 zigzag -193 _SEP -193 -> -193 == -193 != -193 <= -193 >= -193 // -193 ** -193
$END -206 and -206 @ -206 : -206 , -206 . -206 = -206 { -206 < -206 ( -206 [ -206 - -206 > -206 of -206 or -206 over -206 % -206 + -206 } -206 repeat -206 ) -206 ] -206 / -206 * -206 where -206 zigzag -206 _SEP -206 -> -206 := -206 == -206 != -206 <= -206 >= -206 // -206 ** -206
$END -199 and -199 @ -199 : -199 , -199 . -199 = -199 { -199 < -199 ( -199 [ -199 - -199 > -199 of -199 or -199 over -199 % -199 + -199 } -199 repeat -199 ) -199 ] -199 / -199 * -199 where -199 zigzag -199 _SEP -199 -> -199 := -199 == -199 != -199 <= -199 >= -199 // -199 ** -199
and -116 @ -116 , -116 { -116 < -116 [ -116 - -116 > -116 or -116 % -116 + -116 } -116 ) -116 ] -116 / -116 * -116 _SEP -116 == -116 != -116 <= -116 >= -116 // -116 ** -116
and -133 @ -133 , -133 { -133 < -133 [ -133 - -133 > -133 or -133 % -133 + -133 } -133 ) -133 ] -133 / -133 * -133 _SEP -133 == -133 != -133 <= -133 >= -133 // -133 ** -133
$END -184 and -184 @ -184 : -184 , -184 . -184 = -184 { -184 < -184 ( -184 [ -184 - -184 > -184 of -184 or -184 over -184 % -184 + -184 } -184 repeat -184 ) -184 ] -184 / -184 * -184 where -184 zigzag -184 _SEP -184 -> -184 := -184 == -184 != -184 <= -184 >= -184 // -184 ** -184
$END -189 and -189 @ -189 : -189 , -189 . -189 = -189 { -189 < -189 ( -189 [ -189 - -189 > -189 of -189 or -189 over -189 % -189 + -189 } -189 repeat -189 ) -189 ] -189 / -189 * -189 where -189 zigzag -189 _SEP -189 -> -189 := -189 == -189 != -189 <= -189 >= -189 // -189 ** -189
by 84 dims 83 exchange 82 false 81 first 80 free 79 import 78 layer 77 loss 76 ( 72 [ 61 mesh 60 metric 59 - 57 model 56 NAME 55 none 54 NUMBER 53 of 52 over 51 param 50 partition 49 PRIMED 48 primitive 47 regroup 46 repeat 45 stage 44 state 43 strategy 42 STRING 41 true 40 where 39 whole 38 within 37 zigzag 36 <atom> 33 <factor> 58 <literal> 31 <name> 30 <path> 26 <power> 25 <primed> 24 <string> 21
and -113 @ -113 , -113 { -113 < -113 - -113 > -113 or -113 % -113 + -113 } -113 ) -113 ] -113 / -113 * -113 _SEP -113 == -113 != -113 <= -113 >= -113 // -113
$END -196 and -196 @ -196 : -196 , -196 . -196 = -196 { -196 < -196 ( -196 [ -196 - -196 > -196 of -196 or -196 over -196 % -196 + -196 } -196 repeat -196 ) -196 ] -196 / -196 * -196 where -196 zigzag -196 _SEP -196 -> -196 == -196 != -196 <= -196 >= -196 // -196 ** -196
$END -186 and -186 @ -186 : -186 , -186 . -186 = -186 { -186 < -186 ( -186 [ -186 - -186 > -186 of -186 or -186 over -186 % -186 + -186 } -186 repeat -186 ) -186 ] -186 / -186 * -186 where -186 zigzag -186 _SEP -186 -> -186 := -186 == -186 != -186 <= -186 >= -186 // -186 ** -186
by 84 dims 83 exchange 82 false 81 first 80 free 79 import 78 layer 77 loss 76 ( 72 [ 61 mesh 60 metric 59 - 57 model 56 NAME 55 none 54 not 70 NUMBER 53 of 52 over 51 param 50 partition 49 PRIMED 48 primitive 47 regroup 46 repeat 45 ] 90 stage 44 state 43 strategy 42 STRING 41 true 40 where 39 whole 38 within 37 zigzag 36 <_expr_list> 85 <atom> 33 <comparison> 69 <conjunction> 75 <expr> 64 <factor> 63 <literal> 31 <name> 30 <negation> 62 <path> 26 <power> 25 <primed> 24 <product> 28 <string> 21 <sum> 17
and -92 , -92 { -92 or -92 } -92 ) -92 ] -92 _SEP -92
and -106 @ -106 , -106 { -106 < -106 - -106 > -106 or -106 % -106 + -106 } -106 ) -106 ] -106 / -106 * -106 _SEP -106 == -106 != -106 <= -106 >= -106 // -106
, -62 or 65 } -62 ] -62 _SEP -62
by 84 dims 83 exchange 82 false 81 first 80 free 79 import 78 layer 77 loss 76 ( 72 [ 61 mesh 60 metric 59 - 57 model 56 NAME 55 none 54 not 70 NUMBER 53 of 52 over 51 param 50 partition 49 PRIMED 48 primitive 47 regroup 46 repeat 45 stage 44 state 43 strategy 42 STRING 41 true 40 where 39 whole 38 within 37 zigzag 36 <atom> 33 <comparison> 69 <conjunction> 66 <factor> 63 <literal> 31 <name> 30 <negation> 62 <path> 26 <power> 25 <primed> 24 <product> 28 <string> 21 <sum> 17
and 67 , -91 { -91 or -91 } -91 ) -91 ] -91 _SEP -91
by 84 dims 83 exchange 82 false 81 first 80 free 79 import 78 layer 77 loss 76 ( 72 [ 61 mesh 60 metric 59 - 57 model 56 NAME 55 none 54 not 70 NUMBER 53 of 52 over 51 param 50 partition 49 PRIMED 48 primitive 47 regroup 46 repeat 45 stage 44 state 43 strategy 42 STRING 41 true 40 where 39 whole 38 within 37 zigzag 36 <atom> 33 <comparison> 69 <factor> 63 <literal> 31 <name> 30 <negation> 68 <path> 26 <power> 25 <primed> 24 <product> 28 <string> 21 <sum> 17
and -93 , -93 { -93 or -93 } -93 ) -93 ] -93 _SEP -93
and -94 , -94 { -94 or -94 } -94 ) -94 ] -94 _SEP -94
by 84 dims 83 exchange 82 false 81 first 80 free 79 import 78 layer 77 loss 76 ( 72 [ 61 mesh 60 metric 59 - 57 model 56 NAME 55 none 54 not 70 NUMBER 53 of 52 over 51 param 50 partition 49 PRIMED 48 primitive 47 regroup 46 repeat 45 stage 44 state 43 strategy 42 STRING 41 true 40 where 39 whole 38 within 37 zigzag 36 <atom> 33 <comparison> 69 <factor> 63 <literal> 31 <name> 30 <negation> 71 <path> 26 <power> 25 <primed> 24 <product> 28 <string> 21 <sum> 17
and -95 , -95 { -95 or -95 } -95 ) -95 ] -95 _SEP -95
by 84 dims 83 exchange 82 false 81 first 80 free 79 import 78 layer 77 loss 76 ( 72 [ 61 mesh 60 metric 59 - 57 model 56 NAME 55 none 54 not 70 NUMBER 53 of 52 over 51 param 50 partition 49 PRIMED 48 primitive 47 regroup 46 repeat 45 stage 44 state 43 strategy 42 STRING 41 true 40 where 39 whole 38 within 37 zigzag 36 <atom> 33 <comparison> 69 <conjunction> 75 <expr> 73 <factor> 63 <literal> 31 <name> 30 <negation> 62 <path> 26 <power> 25 <primed> 24 <product> 28 <string> 21 <sum> 17
or 65 ) 74
and -129 @ -129 , -129 { -129 < -129 [ -129 - -129 > -129 or -129 % -129 + -129 } -129 ) -129 ] -129 / -129 * -129 _SEP -129 == -129 != -129 <= -129 >= -129 // -129 ** -129
and 67 , -90 { -90 or -90 } -90 ) -90 ] -90 _SEP -90
$END -195 and -195 @ -195 : -195 , -195 . -195 = -195 { -195 < -195 ( -195 [ -195 - -195 > -195 of -195 or -195 over -195 % -195 + -195 } -195 repeat -195 ) -195 ] -195 / -195 * -195 where -195 zigzag -195 _SEP -195 -> -195 == -195 != -195 <= -195 >= -195 // -195 ** -195
$END -188 and -188 @ -188 : -188 , -188 . -188 = -188 { -188 < -188 ( -188 [ -188 - -188 > -188 of -188 or -188 over -188 % -188 + -188 } -188 repeat -188 ) -188 ] -188 / -188 * -188 where -188 zigzag -188 _SEP -188 -> -188 := -188 == -188 != -188 <= -188 >= -188 // -188 ** -188
$END -185 and -185 @ -185 : -185 , -185 . -185 = -185 { -185 < -185 ( -185 [ -185 - -185 > -185 of -185 or -185 over -185 % -185 + -185 } -185 repeat -185 ) -185 ] -185 / -185 * -185 where -185 zigzag -185 _SEP -185 -> -185 := -185 == -185 != -185 <= -185 >= -185 // -185 ** -185
$END -202 and -202 @ -202 : -202 , -202 . -202 = -202 { -202 < -202 ( -202 [ -202 - -202 > -202 of -202 or -202 over -202 % -202 + -202 } -202 repeat -202 ) -202 ] -202 / -202 * -202 where -202 zigzag -202 _SEP -202 -> -202 := -202 == -202 != -202 <= -202 >= -202 // -202 ** -202
$END -209 and -209 @ -209 : -209 , -209 . -209 = -209 { -209 < -209 ( -209 [ -209 - -209 > -209 of -209 or -209 over -209 % -209 + -209 } -209 repeat -209 ) -209 ] -209 / -209 * -209 where -209 zigzag -209 _SEP -209 -> -209 := -209 == -209 != -209 <= -209 >= -209 // -209 ** -209
and -132 @ -132 , -132 { -132 < -132 [ -132 - -132 > -132 or -132 % -132 + -132 } -132 ) -132 ] -132 / -132 * -132 _SEP -132 == -132 != -132 <= -132 >= -132 // -132 ** -132
$END -204 and -204 @ -204 : -204 , -204 . -204 = -204 { -204 < -204 ( -204 [ -204 - -204 > -204 of -204 or -204 over -204 % -204 + -204 } -204 repeat -204 ) -204 ] -204 / -204 * -204 where -204 zigzag -204 _SEP -204 -> -204 := -204 == -204 != -204 <= -204 >= -204 // -204 ** -204
$END -187 and -187 @ -187 : -187 , -187 . -187 = -187 { -187 < -187 ( -187 [ -187 - -187 > -187 of -187 or -187 over -187 % -187 + -187 } -187 repeat -187 ) -187 ] -187 / -187 * -187 where -187 zigzag -187 _SEP -187 -> -187 := -187 == -187 != -187 <= -187 >= -187 // -187 ** -187
$END -205 and -205 @ -205 : -205 , -205 . -205 = -205 { -205 < -205 ( -205 [ -205 - -205 > -205 of -205 or -205 over -205 % -205 + -205 } -205 repeat -205 ) -205 ] -205 / -205 * -205 where -205 zigzag -205 _SEP -205 -> -205 := -205 == -205 != -205 <= -205 >= -205 // -205 ** -205
, 87 ] 86
and -127 @ -127 , -127 { -127 < -127 [ -127 - -127 > -127 or -127 % -127 + -127 } -127 ) -127 ] -127 / -127 * -127 _SEP -127 == -127 != -127 <= -127 >= -127 // -127 ** -127
by 84 dims 83 exchange 82 false 81 first 80 free 79 import 78 layer 77 loss 76 ( 72 [ 61 mesh 60 metric 59 - 57 model 56 NAME 55 none 54 not 70 NUMBER 53 of 52 over 51 param 50 partition 49 PRIMED 48 primitive 47 regroup 46 repeat 45 ] 89 stage 44 state 43 strategy 42 STRING 41 true 40 where 39 whole 38 within 37 zigzag 36 <atom> 33 <comparison> 69 <conjunction> 75 <expr> 88 <factor> 63 <literal> 31 <name> 30 <negation> 62 <path> 26 <power> 25 <primed> 24 <product> 28 <string> 21 <sum> 17
, -63 or 65 } -63 ] -63 _SEP -63
and -126 @ -126 , -126 { -126 < -126 [ -126 - -126 > -126 or -126 % -126 + -126 } -126 ) -126 ] -126 / -126 * -126 _SEP -126 == -126 != -126 <= -126 >= -126 // -126 ** -126
and -128 @ -128 , -128 { -128 < -128 [ -128 - -128 > -128 or -128 % -128 + -128 } -128 ) -128 ] -128 / -128 * -128 _SEP -128 == -128 != -128 <= -128 >= -128 // -128 ** -128
by 84 dims 83 exchange 82 false 81 first 80 free 79 import 78 layer 77 loss 76 ( 72 [ 61 mesh 60 metric 59 - 57 model 56 NAME 55 none 54 not 70 NUMBER 53 of 52 over 51 param 50 partition 49 PRIMED 48 primitive 47 regroup 46 repeat 45 stage 44 state 43 strategy 42 STRING 41 true 40 where 39 whole 38 within 37 zigzag 36 <atom> 33 <comparison> 69 <conjunction> 75 <expr> 92 <factor> 63 <literal> 31 <name> 30 <negation> 62 <path> 26 <power> 25 <primed> 24 <product> 28 <string> 21 <sum> 17
or 65 ] 93
and -125 @ -125 , -125 { -125 < -125 [ -125 - -125 > -125 or -125 % -125 + -125 } -125 ) -125 ] -125 / -125 * -125 _SEP -125 == -125 != -125 <= -125 >= -125 // -125 ** -125
by 84 dims 83 exchange 82 false 81 first 80 free 79 import 78 layer 77 loss 76 ( 72 [ 61 mesh 60 metric 59 - 57 model 56 NAME 55 none 54 NUMBER 53 of 52 over 51 param 50 partition 49 PRIMED 48 primitive 47 regroup 46 repeat 45 stage 44 state 43 strategy 42 STRING 41 true 40 where 39 whole 38 within 37 zigzag 36 <atom> 33 <factor> 95 <literal> 31 <name> 30 <path> 26 <power> 25 <primed> 24 <string> 21
and -108 @ -108 , -108 { -108 < -108 - -108 > -108 or -108 % -108 + -108 } -108 ) -108 ] -108 / -108 * -108 _SEP -108 == -108 != -108 <= -108 >= -108 // -108
by 84 dims 83 exchange 82 false 81 first 80 free 79 import 78 layer 77 loss 76 ( 72 [ 61 mesh 60 metric 59 - 57 model 56 NAME 55 none 54 NUMBER 53 of 52 over 51 param 50 partition 49 PRIMED 48 primitive 47 regroup 46 repeat 45 stage 44 state 43 strategy 42 STRING 41 true 40 where 39 whole 38 within 37 zigzag 36 <atom> 33 <factor> 97 <literal> 31 <name> 30 <path> 26 <power> 25 <primed> 24 <string> 21
and -110 @ -110 , -110 { -110 < -110 - -110 > -110 or -110 % -110 + -110 } -110 ) -110 ] -110 / -110 * -110 _SEP -110 == -110 != -110 <= -110 >= -110 // -110
by 84 dims 83 exchange 82 false 81 first 80 free 79 import 78 layer 77 loss 76 ( 72 [ 61 mesh 60 metric 59 - 57 model 56 NAME 55 none 54 NUMBER 53 of 52 over 51 param 50 partition 49 PRIMED 48 primitive 47 regroup 46 repeat 45 stage 44 state 43 strategy 42 STRING 41 true 40 where 39 whole 38 within 37 zigzag 36 <atom> 33 <factor> 99 <literal> 31 <name> 30 <path> 26 <power> 25 <primed> 24 <string> 21
and -111 @ -111 , -111 { -111 < -111 - -111 > -111 or -111 % -111 + -111 } -111 ) -111 ] -111 / -111 * -111 _SEP -111 == -111 != -111 <= -111 >= -111 // -111
and -156 @ -156 , -156 . -156 = 101 < -156 ( -156 [ -156 - -156 > -156 or -156 % -156 + -156 ) -156 / -156 * -156 == -156 != -156 <= -156 >= -156 // -156 ** -156
by 84 dims 83 exchange 82 false 81 first 80 free 79 import 78 layer 77 loss 76 ( 72 [ 61 mesh 60 metric 59 - 57 model 56 NAME 55 none 54 not 70 NUMBER 53 of 52 over 51 param 50 partition 49 PRIMED 48 primitive 47 regroup 46 repeat 45 stage 44 state 43 strategy 42 STRING 41 true 40 where 39 whole 38 within 37 zigzag 36 <atom> 33 <comparison> 69 <conjunction> 75 <expr> 102 <factor> 63 <literal> 31 <name> 30 <negation> 62 <path> 26 <power> 25 <primed> 24 <product> 28 <string> 21 <sum> 17
, -139 or 65 ) -139
, -138 or 65 ) -138
, -136 ) -136
) 106
and -121 as 107 @ -121 , -121 { -121 < -121 [ -121 - -121 > -121 or -121 % -121 + -121 } -121 ) -121 ] -121 / -121 * -121 _SEP -121 == -121 != -121 <= -121 >= -121 // -121 ** -121
by 84 dims 83 exchange 82 first 80 free 79 import 78 layer 77 loss 76 mesh 60 metric 59 model 56 NAME 55 of 52 over 51 param 50 partition 49 primitive 47 regroup 46 repeat 45 stage 44 state 43 strategy 42 where 39 whole 38 within 37 zigzag 36 <name> 108
and -123 @ -123 , -123 { -123 < -123 [ -123 - -123 > -123 or -123 % -123 + -123 } -123 ) -123 ] -123 / -123 * -123 _SEP -123 == -123 != -123 <= -123 >= -123 // -123 ** -123
, 110 ) -135
by 84 dims 83 exchange 82 false 81 first 80 free 79 import 78 layer 77 loss 76 ( 72 [ 61 mesh 60 metric 59 - 57 model 56 NAME 55 none 54 not 70 NUMBER 53 of 52 over 51 param 50 partition 49 PRIMED 48 primitive 47 regroup 46 repeat 45 ) -134 stage 44 state 43 strategy 42 STRING 41 true 40 where 39 whole 38 within 37 zigzag 36 <argument> 111 <atom> 33 <comparison> 69 <conjunction> 75 <expr> 103 <factor> 63 <literal> 31 <name> 100 <negation> 62 <path> 26 <power> 25 <primed> 24 <product> 28 <string> 21 <sum> 17
, -137 ) -137
and -122 as 113 @ -122 , -122 { -122 < -122 [ -122 - -122 > -122 or -122 % -122 + -122 } -122 ) -122 ] -122 / -122 * -122 _SEP -122 == -122 != -122 <= -122 >= -122 // -122 ** -122
by 84 dims 83 exchange 82 first 80 free 79 import 78 layer 77 loss 76 mesh 60 metric 59 model 56 NAME 55 of 52 over 51 param 50 partition 49 primitive 47 regroup 46 repeat 45 stage 44 state 43 strategy 42 where 39 whole 38 within 37 zigzag 36 <name> 114
and -124 @ -124 , -124 { -124 < -124 [ -124 - -124 > -124 or -124 % -124 + -124 } -124 ) -124 ] -124 / -124 * -124 _SEP -124 == -124 != -124 <= -124 >= -124 // -124 ** -124
by 84 dims 83 exchange 82 first 80 free 79 import 78 layer 77 loss 76 mesh 60 metric 59 model 56 NAME 55 of 52 over 51 param 50 partition 49 primitive 47 regroup 46 repeat 45 stage 44 state 43 strategy 42 where 39 whole 38 within 37 zigzag 36 <name> 116
and -157 @ -157 , -157 . -157 { -157 < -157 ( -157 [ -157 - -157 > -157 or -157 % -157 + -157 } -157 ) -157 ] -157 / -157 * -157 _SEP -157 == -157 != -157 <= -157 >= -157 // -157 ** -157
and -109 @ -109 , -109 { -109 < -109 - -109 > -109 or -109 % -109 + -109 } -109 ) -109 ] -109 / -109 * -109 _SEP -109 == -109 != -109 <= -109 >= -109 // -109
by 84 dims 83 exchange 82 false 81 first 80 free 79 import 78 layer 77 loss 76 ( 72 [ 61 mesh 60 metric 59 - 57 model 56 NAME 55 none 54 NUMBER 53 of 52 over 51 param 50 partition 49 PRIMED 48 primitive 47 regroup 46 repeat 45 stage 44 state 43 strategy 42 STRING 41 true 40 where 39 whole 38 within 37 zigzag 36 <atom> 33 <factor> 63 <literal> 31 <name> 30 <path> 26 <power> 25 <primed> 24 <product> 119 <string> 21
and -105 @ 98 , -105 { -105 < -105 - -105 > -105 or -105 % 96 + -105 } -105 ) -105 ] -105 / 94 * 29 _SEP -105 == -105 != -105 <= -105 >= -105 // 23
by 84 dims 83 exchange 82 false 81 first 80 free 79 import 78 layer 77 loss 76 ( 72 [ 61 mesh 60 metric 59 - 57 model 56 NAME 55 none 54 NUMBER 53 of 52 over 51 param 50 partition 49 PRIMED 48 primitive 47 regroup 46 repeat 45 stage 44 state 43 strategy 42 STRING 41 true 40 where 39 whole 38 within 37 zigzag 36 <atom> 33 <factor> 63 <literal> 31 <name> 30 <path> 26 <power> 25 <primed> 24 <product> 28 <string> 21 <sum> 121
and -100 , -100 { -100 - 118 or -100 + 20 } -100 ) -100 ] -100 _SEP -100
by 84 dims 83 exchange 82 false 81 first 80 free 79 import 78 layer 77 loss 76 ( 72 [ 61 mesh 60 metric 59 - 57 model 56 NAME 55 none 54 NUMBER 53 of 52 over 51 param 50 partition 49 PRIMED 48 primitive 47 regroup 46 repeat 45 stage 44 state 43 strategy 42 STRING 41 true 40 where 39 whole 38 within 37 zigzag 36 <atom> 33 <factor> 63 <literal> 31 <name> 30 <path> 26 <power> 25 <primed> 24 <product> 28 <string> 21 <sum> 123
and -98 , -98 { -98 - 118 or -98 + 20 } -98 ) -98 ] -98 _SEP -98
by 84 dims 83 exchange 82 false 81 first 80 free 79 import 78 layer 77 loss 76 ( 72 [ 61 mesh 60 metric 59 - 57 model 56 NAME 55 none 54 NUMBER 53 of 52 over 51 param 50 partition 49 PRIMED 48 primitive 47 regroup 46 repeat 45 stage 44 state 43 strategy 42 STRING 41 true 40 where 39 whole 38 within 37 zigzag 36 <atom> 33 <factor> 63 <literal> 31 <name> 30 <path> 26 <power> 25 <primed> 24 <product> 28 <string> 21 <sum> 125
and -97 , -97 { -97 - 118 or -97 + 20 } -97 ) -97 ] -97 _SEP -97
by 84 dims 83 exchange 82 false 81 first 80 free 79 import 78 layer 77 loss 76 ( 72 [ 61 mesh 60 metric 59 - 57 model 56 NAME 55 none 54 NUMBER 53 of 52 over 51 param 50 partition 49 PRIMED 48 primitive 47 regroup 46 repeat 45 stage 44 state 43 strategy 42 STRING 41 true 40 where 39 whole 38 within 37 zigzag 36 <atom> 33 <factor> 63 <literal> 31 <name> 30 <path> 26 <power> 25 <primed> 24 <product> 28 <string> 21 <sum> 127
and -101 , -101 { -101 - 118 or -101 + 20 } -101 ) -101 ] -101 _SEP -101
by 84 dims 83 exchange 82 false 81 first 80 free 79 import 78 layer 77 loss 76 ( 72 [ 61 mesh 60 metric 59 - 57 model 56 NAME 55 none 54 NUMBER 53 of 52 over 51 param 50 partition 49 PRIMED 48 primitive 47 regroup 46 repeat 45 stage 44 state 43 strategy 42 STRING 41 true 40 where 39 whole 38 within 37 zigzag 36 <atom> 33 <factor> 63 <literal> 31 <name> 30 <path> 26 <power> 25 <primed> 24 <product> 28 <string> 21 <sum> 129
and -99 , -99 { -99 - 118 or -99 + 20 } -99 ) -99 ] -99 _SEP -99
) 131
} -80 _SEP -80
} -81 _SEP -81
by 84 dims 83 exchange 82 first 80 free 79 import 78 layer 77 loss 76 mesh 60 metric 59 model 56 NAME 55 of 52 over 51 param 50 partition 49 primitive 47 regroup 46 repeat 45 stage 44 state 43 strategy 42 where 39 whole 38 within 37 zigzag 36 <name> 134
, -159 . -159 { -159 ( -159
} -68 _SEP -68
, -150 = -150 { -150 of -150 } -150 ) -150 ] -150 _SEP -150 -> -150
, -149 = -149 { -149 of -149 } -149 ) -149 ] -149 _SEP -149 -> -149
{ 14 of 158 -> 140 <rules> 139
} -77 _SEP -77
by 84 dims 83 exchange 82 first 80 free 79 import 78 layer 77 loss 76 mesh 60 metric 59 model 56 NAME 55 none 157 of 52 over 51 param 50 partition 49 primitive 47 regroup 46 repeat 45 stage 44 state 43 strategy 42 where 39 whole 38 within 37 zigzag 36 .. 154 <_name_list> 151 <axes> 143 <name> 142 <names> 141
} -83 repeat -83 where -83 zigzag -83 _SEP -83
: -141 , -141 } -141 repeat -141 ) -141 where -141 zigzag -141 _SEP -141
} -71 repeat 150 where 148 zigzag 147 _SEP -71 <_flags> 145 <flag> 144
} -85 repeat -85 where -85 zigzag -85 _SEP -85
} -70 repeat 150 where 148 zigzag 147 _SEP -70 <flag> 146
} -86 repeat -86 where -86 zigzag -86 _SEP -86
} -87 repeat -87 where -87 zigzag -87 _SEP -87
free 149
} -89 repeat -89 where -89 zigzag -89 _SEP -89
} -88 repeat -88 where -88 zigzag -88 _SEP -88
: -140 , 152 = -140 } -140 repeat -140 ) -140 where -140 zigzag -140 _SEP -140
by 84 dims 83 exchange 82 first 80 free 79 import 78 layer 77 loss 76 mesh 60 metric 59 model 56 NAME 55 of 52 over 51 param 50 partition 49 primitive 47 regroup 46 repeat 45 stage 44 state 43 strategy 42 where 39 whole 38 within 37 zigzag 36 <name> 153
: -142 , -142 = -142 } -142 repeat -142 ) -142 where -142 zigzag -142 _SEP -142
, 155
by 84 dims 83 exchange 82 first 80 free 79 import 78 layer 77 loss 76 mesh 60 metric 59 model 56 NAME 55 of 52 over 51 param 50 partition 49 primitive 47 regroup 46 repeat 45 stage 44 state 43 strategy 42 where 39 whole 38 within 37 zigzag 36 <_name_list> 151 <name> 142 <names> 156
} -84 repeat -84 where -84 zigzag -84 _SEP -84
} -82 repeat -82 where -82 zigzag -82 _SEP -82
by 84 dims 83 exchange 82 first 80 free 79 import 78 layer 77 loss 76 mesh 60 metric 59 model 56 NAME 55 of 52 over 51 param 50 partition 49 primitive 47 regroup 46 repeat 45 stage 44 state 43 strategy 42 where 39 whole 38 within 37 zigzag 36 <name> 30 <path> 159
. 115 { 14 <rules> 160
} -78 _SEP -78
, -144 = -144 { -144 of -144 } -144 ) -144 ] -144 _SEP -144 -> -144
, -158 . -158 { -158 ( -158
} 242 _SEP 164
by 241 dims 240 exchange 234 first 227 free 226 if 223 import 222 layer 221 loss 220 mesh 219 metric 218 model 217 NAME 216 of 52 over 215 param 214 partition 213 PRIMED 48 primitive 212 regroup 211 repeat 210 stage 204 state 203 strategy 202 where 201 whole 200 within 170 zigzag 169 <_dim_list> 166 <callee> 162 <dim> 161 <dim_list> 138 <name> 137 <primed> 136 <rule> 165 <use_path> 15
} -69 _SEP -69
, 167 = -143 { -143 of -143 } -143 ) -143 _SEP -143 -> -143
by 84 dims 83 exchange 82 first 80 free 79 import 78 layer 77 loss 76 mesh 60 metric 59 model 56 NAME 55 of 52 over 51 param 50 partition 49 PRIMED 48 primitive 47 regroup 46 repeat 45 stage 44 state 43 strategy 42 where 39 whole 38 within 37 zigzag 36 <dim> 168 <name> 137 <primed> 136
, -145 = -145 { -145 of -145 } -145 ) -145 ] -145 _SEP -145 -> -145
, -203 . -178 { -203 ( -178 of -203 -> -203
by 199 , -200 dims 198 . -175 exchange 197 free 196 import 195 layer 194 { -200 loss 193 ( -175 mesh 192 metric 191 model 190 NAME 189 of -200 over 188 param 187 partition 186 primitive 185 regroup 184 repeat 183 stage 182 state 181 strategy 180 where 179 whole 178 within 177 zigzag 176 -> -200 <_target_list> 172 <callee> 162 <use_path> 171
, -154 . 133 { -154
, 174 { 14 <rules> 173
} -76 _SEP -76
by 84 dims 83 exchange 82 first 80 free 79 import 78 layer 77 loss 76 mesh 60 metric 59 model 56 NAME 55 of 52 over 51 param 50 partition 49 primitive 47 regroup 46 repeat 45 stage 44 state 43 strategy 42 where 39 whole 38 within 37 zigzag 36 <name> 30 <path> 175
, -155 . 115 { -155
by -178 , -178 . -178 { -178 over -178
by -175 , -175 . -175 { -175 over -175
by -183 , -183 . -183 { -183 over -183
by -176 , -176 . -176 { -176 over -176
by -167 , -167 . -167 { -167 over -167
by -170 , -170 . -170 { -170 over -170
by -182 , -182 . -182 { -182 over -182
by -173 , -173 . -173 { -173 over -173
by -174 , -174 . -174 { -174 over -174
by -166 , -166 . -166 { -166 over -166
by -168 , -168 . -168 { -168 over -168
by -169 , -169 . -169 { -169 over -169
by -181 , -181 . -181 { -181 over -181
by -160 , -160 . -160 { -160 over -160
by -165 , -165 . -165 { -165 over -165
by -172 , -172 . -172 { -172 over -172
by -162 , -162 . -162 { -162 over -162
by -171 , -171 . -171 { -171 over -171
by -164 , -164 . -164 { -164 over -164
by -161 , -161 . -161 { -161 over -161
by -177 , -177 . -177 { -177 over -177
by -179 , -179 . -179 { -179 over -179
by -163 , -163 . -163 { -163 over -163
by -180 , -180 . -180 { -180 over -180
, -208 . -183 { -208 ( -183 of -208 -> -208
, -201 . -176 { -201 ( -176 of -201 -> -201
, -191 . -167 { -191 ( -167 of -191 -> -191
, -194 . -170 { -194 ( -170 of -194 -> -194
by 199 , -207 dims 198 . -182 exchange 197 free 196 import 195 layer 194 { -207 loss 193 ( -182 mesh 192 metric 191 model 190 NAME 189 of -207 over 188 param 187 partition 186 PRIMED 48 primitive 185 regroup 184 repeat 183 stage 182 state 181 strategy 180 where 179 whole 178 within 177 zigzag 176 -> -207 <callee> 209 <primed> 208 <staged> 205
over 206
by 84 dims 83 exchange 82 first 80 free 79 import 78 layer 77 loss 76 mesh 60 metric 59 model 56 NAME 55 of 52 over 51 param 50 partition 49 primitive 47 regroup 46 repeat 45 stage 44 state 43 strategy 42 where 39 whole 38 within 37 zigzag 36 <name> 207
} -75 _SEP -75
over -153
over -152
, -197 . -173 { -197 ( -173 of -197 -> -197
, -198 . -174 { -198 ( -174 of -198 -> -198
, -190 . -166 { -190 ( -166 of -190 -> -190
, -192 . -168 { -192 ( -168 of -192 -> -192
, -193 . -169 { -193 ( -169 of -193 -> -193
, -206 . -181 { -206 ( -181 of -206 -> -206
, -184 . -160 { -184 ( -160 of -184 -> -184
, -189 . -165 { -189 ( -165 of -189 -> -189
, -196 . -172 { -196 ( -172 of -196 -> -196
, -186 . -162 { -186 ( -162 of -186 -> -186
, -195 . -171 { -195 ( -171 of -195 -> -195
, -188 . -164 { -188 ( -164 of -188 -> -188
, -185 . -161 { -185 ( -161 of -185 -> -185
by 84 dims 83 exchange 82 false 81 first 80 free 79 import 78 layer 77 loss 76 ( 72 [ 61 mesh 60 metric 59 - 57 model 56 NAME 55 none 54 not 70 NUMBER 53 of 52 over 51 param 50 partition 49 PRIMED 48 primitive 47 regroup 46 repeat 45 stage 44 state 43 strategy 42 STRING 41 true 40 where 39 whole 38 within 37 zigzag 36 <atom> 33 <comparison> 69 <conjunction> 75 <expr> 224 <factor> 63 <literal> 31 <name> 30 <negation> 62 <path> 26 <power> 25 <primed> 24 <product> 28 <string> 21 <sum> 17
{ 14 or 65 <rules> 225
} -79 _SEP -79
, -202 . -177 { -202 ( -177 of -202 -> -202
, -209 { -209 ( 228 of -209 -> -209
by 84 dims 83 exchange 82 first 80 free 79 import 78 layer 77 loss 76 mesh 60 metric 59 model 56 NAME 55 of 52 over 51 param 50 partition 49 PRIMED 48 primitive 47 regroup 46 repeat 45 stage 44 state 43 strategy 42 where 39 whole 38 within 37 zigzag 36 <_dim_list> 166 <dim> 161 <dim_list> 229 <name> 137 <primed> 136
) 230
-> 231
by 84 dims 83 exchange 82 first 80 free 79 import 78 layer 77 loss 76 mesh 60 metric 59 model 56 NAME 55 none 157 of 52 over 51 param 50 partition 49 primitive 47 regroup 46 repeat 45 stage 44 state 43 strategy 42 where 39 whole 38 within 37 zigzag 36 .. 154 <_name_list> 151 <axes> 232 <name> 142 <names> 141
} -73 repeat 150 where 148 zigzag 147 _SEP -73 <_flags> 233 <flag> 144
} -72 repeat 150 where 148 zigzag 147 _SEP -72 <flag> 146
by 199 , -204 dims 198 . -179 exchange 197 free 196 import 195 layer 194 { -204 loss 193 ( -179 mesh 192 metric 191 model 190 NAME 189 of -204 over 188 param 187 partition 186 primitive 185 regroup 184 repeat 183 stage 182 state 181 strategy 180 where 179 whole 178 within 177 zigzag 176 -> -204 <callee> 235
by 236
by 84 dims 83 exchange 82 first 80 free 79 import 78 layer 77 loss 76 mesh 60 metric 59 model 56 NAME 55 of 52 over 51 param 50 partition 49 primitive 47 regroup 46 repeat 45 stage 44 state 43 strategy 42 where 39 whole 38 within 37 zigzag 36 <name> 237
over 238
by 84 dims 83 exchange 82 first 80 free 79 import 78 layer 77 loss 76 mesh 60 metric 59 model 56 NAME 55 of 52 over 51 param 50 partition 49 primitive 47 regroup 46 repeat 45 stage 44 state 43 strategy 42 where 39 whole 38 within 37 zigzag 36 <name> 239
} -74 _SEP -74
, -187 . -163 { -187 ( -163 of -187 -> -187
, -205 . -180 { -205 ( -180 of -205 -> -205
$END -67 } -67 _SEP -67
$END -66 } -66 _SEP -66
by 84 dims 83 exchange 82 first 80 free 79 import 78 layer 77 loss 76 mesh 60 metric 59 model 56 NAME 55 of 52 over 51 param 50 partition 49 primitive 47 regroup 46 repeat 45 ) 267 stage 44 state 43 strategy 42 where 39 whole 38 within 37 zigzag 36 <_parameter_list> 262 <name> 246 <parameter> 245
, -43 ) -43
: 250 , -64 = 248 ) -64 <init> 247
, -45 ) -45
by 84 dims 83 exchange 82 false 81 first 80 free 79 import 78 layer 77 loss 76 ( 72 [ 61 mesh 60 metric 59 - 57 model 56 NAME 55 none 54 not 70 NUMBER 53 of 52 over 51 param 50 partition 49 PRIMED 48 primitive 47 regroup 46 repeat 45 stage 44 state 43 strategy 42 STRING 41 true 40 where 39 whole 38 within 37 zigzag 36 <atom> 33 <comparison> 69 <conjunction> 75 <expr> 249 <factor> 63 <literal> 31 <name> 30 <negation> 62 <path> 26 <power> 25 <primed> 24 <product> 28 <string> 21 <sum> 17
, -65 or 65 } -65 ) -65 _SEP -65
[ 256 <brackets> 251
, -64 = 248 of 253 ) -64 <init> 252
, -46 ) -46
by 84 dims 83 exchange 82 first 80 free 79 import 78 layer 77 loss 76 mesh 60 metric 59 model 56 NAME 55 of 52 over 51 param 50 partition 49 primitive 47 regroup 46 repeat 45 stage 44 state 43 strategy 42 where 39 whole 38 within 37 zigzag 36 <name> 254
, -64 = 248 ) -64 <init> 255
, -47 ) -47
by 84 dims 83 exchange 82 first 80 free 79 import 78 layer 77 loss 76 mesh 60 metric 59 model 56 NAME 55 of 52 over 51 param 50 partition 49 PRIMED 48 primitive 47 regroup 46 repeat 45 ] 261 stage 44 state 43 strategy 42 where 39 whole 38 within 37 zigzag 36 <_dim_list> 257 <dim> 161 <name> 137 <primed> 136
, 259 ] 258
by -148 , -148 dims -148 = -148 exchange -148 first -148 free -148 import -148 layer -148 loss -148 mesh -148 metric -148 model -148 NAME -148 of -148 over -148 param -148 partition -148 PRIMED -148 primitive -148 } -148 regroup -148 repeat -148 ) -148 stage -148 state -148 strategy -148 where -148 whole -148 within -148 zigzag -148 _SEP -148
by 84 dims 83 exchange 82 first 80 free 79 import 78 layer 77 loss 76 mesh 60 metric 59 model 56 NAME 55 of 52 over 51 param 50 partition 49 PRIMED 48 primitive 47 regroup 46 repeat 45 ] 260 stage 44 state 43 strategy 42 where 39 whole 38 within 37 zigzag 36 <dim> 168 <name> 137 <primed> 136
by -147 , -147 dims -147 = -147 exchange -147 first -147 free -147 import -147 layer -147 loss -147 mesh -147 metric -147 model -147 NAME -147 of -147 over -147 param -147 partition -147 PRIMED -147 primitive -147 } -147 regroup -147 repeat -147 ) -147 stage -147 state -147 strategy -147 where -147 whole -147 within -147 zigzag -147 _SEP -147
by -146 , -146 dims -146 = -146 exchange -146 first -146 free -146 import -146 layer -146 loss -146 mesh -146 metric -146 model -146 NAME -146 of -146 over -146 param -146 partition -146 PRIMED -146 primitive -146 } -146 regroup -146 repeat -146 ) -146 stage -146 state -146 strategy -146 where -146 whole -146 within -146 zigzag -146 _SEP -146
, 264 ) 263
{ -42 -> -42
by 84 dims 83 exchange 82 first 80 free 79 import 78 layer 77 loss 76 mesh 60 metric 59 model 56 NAME 55 of 52 over 51 param 50 partition 49 primitive 47 regroup 46 repeat 45 ) 266 stage 44 state 43 strategy 42 where 39 whole 38 within 37 zigzag 36 <name> 246 <parameter> 265
, -44 ) -44
{ -41 -> -41
{ -40 -> -40
by 84 dims 83 exchange 82 first 80 free 79 import 78 layer 77 loss 76 mesh 60 metric 59 model 56 NAME 55 of 52 over 51 param 50 partition 49 primitive 47 regroup 46 repeat 45 stage 44 state 43 strategy 42 where 39 whole 38 within 37 zigzag 36 <name> 269
( 244 <parameters> 270
-> 271
[ 256 <brackets> 272
= 273
STRING 41 <string> 274
$END -35 { 276 <whole> 275
$END -34
} 280 whole 277
by 84 dims 83 exchange 82 first 80 free 79 import 78 layer 77 loss 76 mesh 60 metric 59 model 56 NAME 55 of 52 over 51 param 50 partition 49 PRIMED 48 primitive 47 regroup 46 repeat 45 stage 44 state 43 strategy 42 where 39 whole 38 within 37 zigzag 36 <_dim_list> 278 <dim> 161 <name> 137 <primed> 136
, 167 } 279
$END -37
$END -36
{ 14 <rules> 282
$END -39
by 84 dims 83 exchange 82 first 80 free 79 import 78 layer 77 loss 76 mesh 60 metric 59 model 56 NAME 55 of 52 over 51 param 50 partition 49 primitive 47 regroup 46 repeat 45 stage 44 state 43 strategy 42 where 39 whole 38 within 37 zigzag 36 <name> 284
( 244 <parameters> 285
{ 287 <block> 286
$END -33
by 84 dims 83 exchange 82 first 80 free 79 import 78 layer 77 loss 326 mesh 60 metric 322 model 56 NAME 55 of 52 over 51 param 309 partition 49 primitive 47 } 329 regroup 46 repeat 306 return 303 stage 44 state 298 strategy 42 where 39 whole 38 within 37 zigzag 36 <_name_list> 151 <_statement_list> 295 <name> 292 <names> 289 <statement> 288
} -50 _SEP -50
= 290
by 84 dims 83 exchange 82 false 81 first 80 free 79 import 78 layer 77 loss 76 ( 72 [ 61 mesh 60 metric 59 - 57 model 56 NAME 55 none 54 not 70 NUMBER 53 of 52 over 51 param 50 partition 49 PRIMED 48 primitive 47 regroup 46 repeat 45 stage 44 state 43 strategy 42 STRING 41 true 40 where 39 whole 38 within 37 zigzag 36 <atom> 33 <comparison> 69 <conjunction> 75 <expr> 291 <factor> 63 <literal> 31 <name> 30 <negation> 62 <path> 26 <power> 25 <primed> 24 <product> 28 <string> 21 <sum> 17
or 65 } -56 _SEP -56
, -141 = -141 := 293
by 84 dims 83 exchange 82 false 81 first 80 free 79 import 78 layer 77 loss 76 ( 72 [ 61 mesh 60 metric 59 - 57 model 56 NAME 55 none 54 not 70 NUMBER 53 of 52 over 51 param 50 partition 49 PRIMED 48 primitive 47 regroup 46 repeat 45 stage 44 state 43 strategy 42 STRING 41 true 40 where 39 whole 38 within 37 zigzag 36 <atom> 33 <comparison> 69 <conjunction> 75 <expr> 294 <factor> 63 <literal> 31 <name> 30 <negation> 62 <path> 26 <power> 25 <primed> 24 <product> 28 <string> 21 <sum> 17
or 65 } -57 _SEP -57
} 328 _SEP 296
by 84 dims 83 exchange 82 first 80 free 79 import 78 layer 77 loss 326 mesh 60 metric 322 model 56 NAME 55 of 52 over 51 param 309 partition 49 primitive 47 regroup 46 repeat 306 return 303 stage 44 state 298 strategy 42 where 39 whole 38 within 37 zigzag 36 <_name_list> 151 <name> 292 <names> 289 <statement> 297
} -51 _SEP -51
by 84 , -194 dims 83 = -194 exchange 82 first 80 free 79 import 78 layer 77 loss 76 mesh 60 metric 59 model 56 NAME 55 of 52 over 51 param 50 partition 49 primitive 47 regroup 46 repeat 45 stage 44 state 43 strategy 42 where 39 whole 38 within 37 zigzag 36 := -194 <name> 299
: 300
[ 256 <brackets> 301
= 248 } -64 _SEP -64 <init> 302
} -55 _SEP -55
by 84 dims 83 exchange 82 false 81 first 80 free 79 import 78 layer 77 loss 76 ( 72 [ 61 mesh 60 metric 59 - 57 model 56 NAME 55 none 54 not 70 NUMBER 53 of 52 over 51 param 50 partition 49 PRIMED 48 primitive 47 regroup 46 repeat 45 stage 44 state 43 strategy 42 STRING 41 true 40 where 39 whole 38 within 37 zigzag 36 <_expr_list> 304 <atom> 33 <comparison> 69 <conjunction> 75 <expr> 64 <factor> 63 <literal> 31 <name> 30 <negation> 62 <path> 26 <power> 25 <primed> 24 <product> 28 <string> 21 <sum> 17
, 305 } -61 _SEP -61
by 84 dims 83 exchange 82 false 81 first 80 free 79 import 78 layer 77 loss 76 ( 72 [ 61 mesh 60 metric 59 - 57 model 56 NAME 55 none 54 not 70 NUMBER 53 of 52 over 51 param 50 partition 49 PRIMED 48 primitive 47 regroup 46 repeat 45 stage 44 state 43 strategy 42 STRING 41 true 40 where 39 whole 38 within 37 zigzag 36 <atom> 33 <comparison> 69 <conjunction> 75 <expr> 88 <factor> 63 <literal> 31 <name> 30 <negation> 62 <path> 26 <power> 25 <primed> 24 <product> 28 <string> 21 <sum> 17
by 84 , -197 dims 83 = -197 exchange 82 false 81 first 80 free 79 import 78 layer 77 loss 76 ( 72 [ 61 mesh 60 metric 59 - 57 model 56 NAME 55 none 54 not 70 NUMBER 53 of 52 over 51 param 50 partition 49 PRIMED 48 primitive 47 regroup 46 repeat 45 stage 44 state 43 strategy 42 STRING 41 true 40 where 39 whole 38 within 37 zigzag 36 := -197 <atom> 33 <comparison> 69 <conjunction> 75 <expr> 307 <factor> 63 <literal> 31 <name> 30 <negation> 62 <path> 26 <power> 25 <primed> 24 <product> 28 <string> 21 <sum> 17
{ 287 or 65 <block> 308
} -58 _SEP -58
by 84 , -193 dims 83 = -193 exchange 82 first 80 free 79 import 78 layer 77 loss 76 mesh 60 metric 59 model 56 NAME 55 of 52 over 51 param 50 partition 49 primitive 47 regroup 46 repeat 45 stage 44 state 43 strategy 42 where 39 whole 38 within 37 zigzag 36 := -193 <_name_list> 151 <name> 142 <names> 310
: 311
by 84 dims 83 exchange 82 first 80 free 79 import 78 layer 77 loss 76 [ 256 mesh 60 metric 59 model 56 NAME 55 of 52 over 51 param 50 partition 49 PRIMED 48 primitive 47 regroup 46 repeat 45 stage 44 state 43 strategy 42 where 39 whole 38 within 37 zigzag 36 <_dim_list> 166 <brackets> 316 <dim> 161 <dim_list> 312 <name> 137 <primed> 136
-> 313
by 84 dims 83 exchange 82 first 80 free 79 import 78 layer 77 loss 76 mesh 60 metric 59 model 56 NAME 55 of 52 over 51 param 50 partition 49 PRIMED 48 primitive 47 regroup 46 repeat 45 stage 44 state 43 strategy 42 where 39 whole 38 within 37 zigzag 36 <_dim_list> 166 <dim> 161 <dim_list> 314 <name> 137 <primed> 136
= 248 } -64 _SEP -64 <init> 315
} -52 _SEP -52
by 84 dims 83 = 248 exchange 82 first 80 free 79 import 78 layer 77 loss 76 mesh 60 metric 59 model 56 NAME 55 of 52 over 51 param 50 partition 49 PRIMED 48 primitive 47 } -64 regroup 46 repeat 45 stage 44 state 43 strategy 42 where 39 whole 38 within 37 zigzag 36 _SEP -64 <_dim_list> 166 <dim> 161 <dim_list> 318 <init> 317 <name> 137 <primed> 136
} -54 _SEP -54
-> 319
by 84 dims 83 exchange 82 first 80 free 79 import 78 layer 77 loss 76 mesh 60 metric 59 model 56 NAME 55 of 52 over 51 param 50 partition 49 PRIMED 48 primitive 47 regroup 46 repeat 45 stage 44 state 43 strategy 42 where 39 whole 38 within 37 zigzag 36 <_dim_list> 166 <dim> 161 <dim_list> 320 <name> 137 <primed> 136
= 248 } -64 _SEP -64 <init> 321
} -53 _SEP -53
by 84 , -196 dims 83 = -196 exchange 82 first 80 free 79 import 78 layer 77 loss 76 mesh 60 metric 59 model 56 NAME 55 of 52 over 51 param 50 partition 49 primitive 47 regroup 46 repeat 45 stage 44 state 43 strategy 42 where 39 whole 38 within 37 zigzag 36 := -196 <name> 323
= 324
by 84 dims 83 exchange 82 false 81 first 80 free 79 import 78 layer 77 loss 76 ( 72 [ 61 mesh 60 metric 59 - 57 model 56 NAME 55 none 54 not 70 NUMBER 53 of 52 over 51 param 50 partition 49 PRIMED 48 primitive 47 regroup 46 repeat 45 stage 44 state 43 strategy 42 STRING 41 true 40 where 39 whole 38 within 37 zigzag 36 <atom> 33 <comparison> 69 <conjunction> 75 <expr> 325 <factor> 63 <literal> 31 <name> 30 <negation> 62 <path> 26 <power> 25 <primed> 24 <product> 28 <string> 21 <sum> 17
or 65 } -60 _SEP -60
by 84 , -195 dims 83 = -195 exchange 82 false 81 first 80 free 79 import 78 layer 77 loss 76 ( 72 [ 61 mesh 60 metric 59 - 57 model 56 NAME 55 none 54 not 70 NUMBER 53 of 52 over 51 param 50 partition 49 PRIMED 48 primitive 47 regroup 46 repeat 45 stage 44 state 43 strategy 42 STRING 41 true 40 where 39 whole 38 within 37 zigzag 36 := -195 <atom> 33 <comparison> 69 <conjunction> 75 <expr> 327 <factor> 63 <literal> 31 <name> 30 <negation> 62 <path> 26 <power> 25 <primed> 24 <product> 28 <string> 21 <sum> 17
or 65 } -59 _SEP -59
$END -49 } -49 _SEP -49
$END -48 } -48 _SEP -48
by 84 dims 83 exchange 82 first 80 free 79 import 78 layer 77 { 353 loss 76 mesh 60 metric 59 model 56 NAME 55 of 52 over 51 param 50 partition 49 primitive 47 regroup 46 repeat 45 stage 44 state 43 strategy 42 where 39 whole 38 within 37 zigzag 36 <name> 331
= 332
regroup 333
( 334
by 84 dims 83 exchange 82 first 80 free 79 import 78 layer 77 loss 76 mesh 60 metric 59 model 56 NAME 55 of 52 over 51 param 50 partition 49 primitive 47 regroup 46 repeat 45 stage 44 state 43 strategy 42 where 39 whole 38 within 37 zigzag 36 <_name_list> 151 <name> 142 <names> 335
) 336
{ 337
by 84 dims 83 exchange 82 first 80 free 79 import 78 layer 77 loss 76 mesh 60 metric 59 model 56 NAME 55 of 52 over 51 param 50 partition 49 primitive 47 } 352 regroup 46 repeat 45 stage 44 state 43 strategy 42 where 39 whole 38 within 37 zigzag 36 <_axes> 350 <_axis_list> 343 <axis> 342 <name> 338
= 339
by 84 dims 83 exchange 82 false 81 first 80 free 79 import 78 layer 77 loss 76 ( 72 [ 61 mesh 60 metric 59 - 57 model 56 NAME 55 none 54 not 70 NUMBER 53 of 52 over 51 param 50 partition 49 PRIMED 48 primitive 47 regroup 46 repeat 45 stage 44 * 341 state 43 strategy 42 STRING 41 true 40 where 39 whole 38 within 37 zigzag 36 <atom> 33 <comparison> 69 <conjunction> 75 <expr> 340 <factor> 63 <literal> 31 <name> 30 <negation> 62 <path> 26 <power> 25 <primed> 24 <product> 28 <string> 21 <sum> 17
, -21 or 65 } -21 _SEP -21
, -22 } -22 _SEP -22
, -17 } -17 _SEP -17
, 346 } -16 _SEP 344
by 84 dims 83 exchange 82 first 80 free 79 import 78 layer 77 loss 76 mesh 60 metric 59 model 56 NAME 55 of 52 over 51 param 50 partition 49 primitive 47 regroup 46 repeat 45 stage 44 state 43 strategy 42 where 39 whole 38 within 37 zigzag 36 <axis> 345 <name> 338
, -18 } -18 _SEP -18
by 84 dims 83 exchange 82 first 80 free 79 import 78 layer 77 loss 76 mesh 60 metric 59 model 56 NAME 55 of 52 over 51 param 50 partition 49 primitive 47 } -15 regroup 46 repeat 45 stage 44 state 43 strategy 42 where 39 whole 38 within 37 zigzag 36 _SEP 348 <axis> 347 <name> 338
, -19 } -19 _SEP -19
by 84 dims 83 exchange 82 first 80 free 79 import 78 layer 77 loss 76 mesh 60 metric 59 model 56 NAME 55 of 52 over 51 param 50 partition 49 primitive 47 regroup 46 repeat 45 stage 44 state 43 strategy 42 where 39 whole 38 within 37 zigzag 36 <axis> 349 <name> 338
, -20 } -20 _SEP -20
} 351
$END -13
$END -14
by 84 dims 83 exchange 82 first 80 free 79 import 78 layer 77 loss 76 mesh 60 metric 59 model 56 NAME 55 of 52 over 51 param 50 partition 49 primitive 47 } 356 regroup 46 repeat 45 stage 44 state 43 strategy 42 where 39 whole 38 within 37 zigzag 36 <_axes> 354 <_axis_list> 343 <axis> 342 <name> 338
} 355
$END -11
$END -12
by 84 dims 83 exchange 82 first 80 free 79 import 78 layer 77 loss 76 mesh 60 metric 59 model 56 NAME 55 of 52 over 51 param 50 partition 49 primitive 47 regroup 46 repeat 45 stage 44 state 43 strategy 42 where 39 whole 38 within 37 zigzag 36 <name> 358
( 244 <parameters> 359
{ 287 <block> 360
$END -32
STRING 41 <string> 362
$END -9 as 363
by 84 dims 83 exchange 82 first 80 free 79 import 78 layer 77 loss 76 mesh 60 metric 59 model 56 NAME 55 of 52 over 51 param 50 partition 49 primitive 47 regroup 46 repeat 45 stage 44 state 43 strategy 42 where 39 whole 38 within 37 zigzag 36 <name> 364
$END -10
{ 366
by 84 dims 83 exchange 82 first 80 free 79 import 78 layer 77 loss 76 mesh 60 metric 59 model 56 NAME 55 of 52 over 51 param 50 partition 49 primitive 47 } 380 regroup 46 repeat 45 stage 44 state 43 strategy 42 where 39 whole 38 within 37 zigzag 36 <_entries> 378 <_entry_list> 371 <entry> 370 <name> 367
= 368
by 84 dims 83 exchange 82 false 81 first 80 free 79 import 78 layer 77 loss 76 ( 72 [ 61 mesh 60 metric 59 - 57 model 56 NAME 55 none 54 not 70 NUMBER 53 of 52 over 51 param 50 partition 49 PRIMED 48 primitive 47 regroup 46 repeat 45 stage 44 state 43 strategy 42 STRING 41 true 40 where 39 whole 38 within 37 zigzag 36 <atom> 33 <comparison> 69 <conjunction> 75 <expr> 369 <factor> 63 <literal> 31 <name> 30 <negation> 62 <path> 26 <power> 25 <primed> 24 <product> 28 <string> 21 <sum> 17
, -31 or 65 } -31 _SEP -31
, -27 } -27 _SEP -27
, 374 } -26 _SEP 372
by 84 dims 83 exchange 82 first 80 free 79 import 78 layer 77 loss 76 mesh 60 metric 59 model 56 NAME 55 of 52 over 51 param 50 partition 49 primitive 47 regroup 46 repeat 45 stage 44 state 43 strategy 42 where 39 whole 38 within 37 zigzag 36 <entry> 373 <name> 367
, -28 } -28 _SEP -28
by 84 dims 83 exchange 82 first 80 free 79 import 78 layer 77 loss 76 mesh 60 metric 59 model 56 NAME 55 of 52 over 51 param 50 partition 49 primitive 47 } -25 regroup 46 repeat 45 stage 44 state 43 strategy 42 where 39 whole 38 within 37 zigzag 36 _SEP 376 <entry> 375 <name> 367
, -29 } -29 _SEP -29
by 84 dims 83 exchange 82 first 80 free 79 import 78 layer 77 loss 76 mesh 60 metric 59 model 56 NAME 55 of 52 over 51 param 50 partition 49 primitive 47 regroup 46 repeat 45 stage 44 state 43 strategy 42 where 39 whole 38 within 37 zigzag 36 <entry> 377 <name> 367
, -30 } -30 _SEP -30
} 379
$END -23
$END -24
"""
