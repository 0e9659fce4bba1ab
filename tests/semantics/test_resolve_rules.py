"""`partition` expanded: strategies called, axes bound, conditions decided; and rules that cannot be read."""

from __future__ import annotations

import pytest

from meshc.semantics.program import Program, Rest
from tests.semantics.marked import DIMS, model, only, resolved, sound

MESH = "mesh {\n  dp = 2\n  tp = 4\n  one = 1\n}\n"


def spec(partition: str, strategies: str = "", mesh: str = MESH) -> str:
    text = model("repeat layers { x = LlamaBlock(x) as block }")
    return f'import "std/llama.mesh"\n{mesh}{text}{strategies}\npartition {{\n  {partition}\n}}\n'


def rules(program: Program) -> list[tuple]:
    return [(rule.rest, rule.within, rule.dims, rule.axes, rule.append) for rule in program.rules]


def test_strategies_become_rules():
    program = sound(spec("fsdp(dp)\n  tensor(tp, sequence = true)"))
    assert rules(program) == [
        (Rest.USE, (), ("batch",), ("dp",), True),
        (Rest.PARAMS, (), ("embed", "q_lora", "kv_lora", "mlp"), ("dp",), True),
        (Rest.USE, (), ("heads", "kv_heads", "mlp", "vocab"), ("tp",), False),
        (Rest.USE, (), ("seq",), ("tp",), True),
    ]
    assert [(use.name, use.text) for use in program.uses] == [
        ("fsdp", "fsdp(dp)"),
        ("tensor", "tensor(tp, sequence = true)"),
    ]
    assert [rule.first for rule in program.rules] == [False, True, False, False]
    assert [rule.where_free for rule in program.rules] == [False, False, False, True]
    assert {rule.origin for rule in program.rules} == set(program.uses)


def test_conditions_are_decided():
    assert len(sound(spec("tensor(tp)")).rules) == 1
    own = 'strategy mine(a, n = 2, mode = "x") { if n > 1 and not mode == "y" { batch -> .., a } }\n'
    assert len(sound(spec("mine(dp)", own)).rules) == 1
    assert len(sound(spec("mine(dp, n = 1)", own)).rules) == 0
    assert len(sound(spec('mine(dp, mode = "y")', own)).rules) == 0


def test_places():
    program = sound(
        spec(
            "grads, optimizer { embed -> dp }\n  within Attention, attend { heads -> tp }\n  params of M.table { vocab -> none }"
        )
    )
    assert [(r.rest, r.within, r.of, r.axes) for r in program.rules] == [
        (Rest.GRADS, (), None, ("dp",)),
        (Rest.OPTIMIZER, (), None, ("dp",)),
        (Rest.USE, ("Attention",), None, ("tp",)),
        (Rest.USE, ("attend",), None, ("tp",)),
        (Rest.PARAMS, (), "M.table", ()),
    ]


def test_nested_places_name_the_outer_first():
    (rule,) = sound(spec("within Attention { within attend { heads -> tp } }")).rules
    assert rule.within == ("Attention", "attend")


def test_an_axis_of_size_one_claims_nothing_and_is_remembered():
    program = sound(spec("data(one)\n  batch -> dp, one\n  ring(one)"))
    assert [(rule.dims, rule.axes) for rule in program.rules] == [(("batch",), ("dp",))]
    assert program.exchanges == ()
    assert [use.text for use in program.uses] == ["data(one)", "ring(one)"]


def test_clearing_is_kept():
    (rule,) = sound(spec("seq -> none")).rules
    assert (rule.axes, rule.append) == ((), False)


def test_options_passed_as_none_leave_their_claims_out():
    mesh = "mesh { dp = 4 }\nmesh experts = regroup(dp) { ep = 4 }\n"
    (rule,) = sound(spec("expert(ep)", mesh=mesh)).rules
    assert (rule.within, rule.dims, rule.axes) == (("experts",), ("experts",), ("ep",))


def test_strategies_of_strategies_point_at_the_partition():
    own = "strategy both(a, b) {\n  data(a)\n  tensor(b)\n}\n"
    program = sound(spec("both(dp, tp)", own))
    assert [(rule.dims[0], rule.axes) for rule in program.rules] == [("batch", ("dp",)), ("heads", ("tp",))]
    assert {rule.origin.text for rule in program.rules if rule.origin} == {"both(dp, tp)"}
    assert [use.text for use in program.uses] == ["both(dp, tp)"]


def test_an_own_strategy_may_have_a_std_ones_name():
    (rule,) = sound(spec("data(dp)", "strategy data(a) { batch -> a }\n")).rules
    assert not rule.append


def test_exchanges_and_stages():
    program = sound(spec('ring(dp)\n  pipeline(tp, microbatches = 8, schedule = "interleaved", rounds = 2)'))
    (exchange,) = program.exchanges
    assert (exchange.within, exchange.what, exchange.method, exchange.axis) == (("attend",), "kv", "ring", "dp")
    (stage,) = program.stages
    assert (stage.dim, stage.axis, stage.microbatches, stage.schedule, stage.rounds, stage.stages) == (
        "layers", "tp", 8, "interleaved", 2, None,
    )  # fmt: skip
    (stage,) = sound(spec("pipeline(tp, microbatches = 8, stages = [1, 1, 1, 1])")).stages
    assert stage.stages == (1, 1, 1, 1)


@pytest.mark.parametrize(("use", "gathered"), [("fsdp(dp)", "again"), ("fsdp(dp, gathered = kept)", "kept")])
def test_gathered(use: str, gathered: str):
    assert sound(spec(use)).gathered == gathered


CASES = {
    "E0203": ("«embd» -> dp", "`embd` is not a declared dim"),
    "E0203 first": ("params { first(embed, «q_lora») -> dp }", "`q_lora` is not a declared dim"),
    "E0203 stage": ("stage «layer» over dp", "`layer` is not a declared dim"),
    "E0204": ("data(«dpp»)", "`dpp` is not a mesh axis"),
    "E0204 direct": ("batch -> «fsdp»", "`fsdp` is not a mesh axis"),
    "E0204 number": ("data(«2»)", "`a` must be a mesh axis, got 2"),
    "E0206": ("«datta»(dp)", "`datta` is not a strategy"),
    "E0207": ("within «attention» { heads -> tp }", "`attention` is not a layer or primitive to be within"),
    "E0209": ("tensor(tp, «sequences» = true)", "`tensor` has no argument `sequences`"),
    "E0222": ("«pipeline(dp)»", "`pipeline` is called without `microbatches`"),
    "E0223": ("tensor(tp, sequence = «1»)", "expected true or false, got 1"),
    "E0223 rounds": ('pipeline(dp, microbatches = 4, rounds = «"two"»)', 'expected a number, got "two"'),
    "E0241": ("params {\n    «optimizer» { embed -> dp }\n  }", "`optimizer` cannot stand in `params`"),
    "E0241 exchange": ("params {\n    «exchange kv by ring over dp»\n  }", "`exchange` says nothing about params"),
    "E0242": ("fsdp(dp, gathered = «keep»)", "`gathered` cannot be `keep`"),
    "E0242 schedule": ('pipeline(dp, microbatches = 4, schedule = «"1f1"»)', '`schedule` cannot be "1f1"'),
    "E0242 count": ("pipeline(dp, microbatches = «0»)", "`microbatches` cannot be 0"),
    "E0242 stages": ("pipeline(dp, microbatches = 4, stages = «odd»)", "`stages` cannot be `odd`"),
    "E0242 what": ("exchange «q» by ring over dp", "`q` is not a thing to exchange"),
    "E0242 method": ("exchange kv by «rings» over dp", "`rings` is not a way to exchange"),
    "E0242 differ": ("fsdp(dp, gathered = kept)\n  fsdp(tp, gathered = «again»)", "`gathered` is kept and again"),
}


@pytest.mark.parametrize("case", CASES)
def test_message_and_place(case: str):
    marked, message = CASES[case]
    found = only(spec(marked))
    assert (found.code, found.message) == (case.split()[0], message)


def test_two_partitions():
    found = only(spec("data(dp)") + "«partition { tensor(tp) }»")
    assert (found.code, found.message) == ("E0210", "this spec has two partition blocks")


def test_a_missing_axis_lists_the_mesh_and_offers_one_of_size_one():
    found = only(spec("data(«replica»)"))
    assert found.helps == (
        "the mesh has `dp`, `tp` and `one`",
        "or add `replica = 1` to the mesh: an axis of size 1 claims nothing",
    )
    text = spec("data(replica)")
    (edit,) = found.edits
    fixed = text[: edit.span.start] + edit.text + text[edit.span.end :]
    sound(fixed)


def test_a_spec_without_a_mesh_has_no_axes():
    found = only(spec("data(«dp»)", mesh=""))
    assert found.helps == ("this spec has no mesh: write mesh { dp = 2 }",)


def test_an_axis_of_a_view_outside_of_it():
    mesh = "mesh { dp = 4 }\nmesh experts = regroup(dp) { ep = 4 }\n"
    assert only(spec("batch -> .., «ep»", mesh=mesh)).code == "E0245"
    sound(spec("within experts { mlp -> ep }\n  params { mlp -> .., ep }", mesh=mesh))


def test_strategies_that_use_themselves():
    own = "strategy a(x) { b(x) }\nstrategy b(x) { «a(x)» }\n"
    found = only(spec("a(dp)", own))
    assert (found.code, found.labels[0].text) == ("E0231", "a -> b -> a")


@pytest.mark.parametrize(
    ("condition", "code"), [("«n»", "E0223"), ("«m»", "E0202"), ('«n < "x"»', "E0223"), ("«n + 1»", "E0223")]
)
def test_conditions_that_are_none(condition: str, code: str):
    own = f"strategy mine(a, n = 2) {{ if {condition} {{ batch -> .., a }} }}\n"
    assert only(spec("mine(dp)", own)).code == code


def test_a_partition_is_checked_although_the_model_is_wrong():
    _, found = resolved(spec("data(dpp)").replace("LlamaBlock(x)", "LamaBlock(x)"))
    assert {"E0204", "E0205"} == {d.code for d in found}


def test_no_partition_shards_nothing():
    program = sound(model("x = x", dims=DIMS.replace("heads = 8, kv_heads = 4, head_dim = 8, mlp = 128, ", "").replace(
        ", layers = 4", "")))  # fmt: skip
    assert (program.axes, program.rules, program.uses) == ((), (), ())


def test_strategies_and_layers_of_an_import_with_a_name():
    text = 'import "own.mesh" as own\nimport "std/llama.mesh" as m\n' + spec(
        "own.mine(dp)\n  within m.Attention { heads -> tp }"
    )
    own = "strategy mine(a) { data(a) }\n"
    program = sound(text, own=own)
    assert [(rule.within, rule.dims) for rule in program.rules] == [((), ("batch",)), (("Attention",), ("heads",))]
