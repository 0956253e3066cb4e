"""Rules for each method of a tensor and each function of torch; ``table`` has the words."""

from __future__ import annotations

import functools
import itertools
from collections.abc import KeysView

from compat.port.library.table import Rule, Rules

METHODS = Rules("""
add n|t              {0.}.add_({1}) -> =
add nt               {0.}.add_({2}, alpha={1}) -> =
csub n|t             {0.}.sub_({1}) -> =
csub nt              {0.}.sub_({2}, alpha={1}) -> =
mul n                {0.}.mul_({1}) -> =
div n                {0.}.div_({1}) -> =
cmul t               {0.}.mul_({1}) -> =
cdiv t               {0.}.div_({1}) -> =
pow n                {0.}.pow_({1}) -> =
cpow t               {0.}.pow_({1}) -> =
fmod n               {0.}.fmod_({1}) -> =
addcmul tt           {0.}.addcmul_({1}, {2}) -> =
addcmul ntt          {0.}.addcmul_({2}, {3}, value={1}) -> =
addcdiv tt           {0.}.addcdiv_({1}, {2}) -> =
addcdiv ntt          {0.}.addcdiv_({2}, {3}, value={1}) -> =
addmm tt             {0.}.addmm_({1}, {2}) -> =
addmm nntt           {0.}.addmm_({3}, {4}, beta={1}, alpha={2}) -> =
addmm ntt            {0.}.addmm_({2}, {3}, alpha={1}) -> =
addmv tt             {0.}.addmv_({1}, {2}) -> =
addmv nntt           {0.}.addmv_({3}, {4}, beta={1}, alpha={2}) -> =
addr tt              {0.}.addr_({1}, {2}) -> =
addr ntt             {0.}.addr_({2}, {3}, alpha={1}) -> =
mm tt                torch.mm({1}, {2}, out={0}) -> t2d
mv tt                torch.mv({1}, {2}, out={0}) -> t1d
bmm tt               torch.bmm({1}, {2}, out={0}) -> t3d
clamp nn             {0.}.clamp_({1}, {2}) -> =
cmax n               {0.}.clamp_(min={1}) -> =
cmin n               {0.}.clamp_(max={1}) -> =
cmax t               torch.maximum({0}, {1}, out={0}) -> =
cmin t               torch.minimum({0}, {1}, out={0}) -> =
fill n               {0.}.fill_({1}) -> =
zero                 {0.}.zero_() -> =
copy t               {0.}.copy_({1}) -> =
sqrt|exp|log|abs|ceil|floor|tanh|sigmoid {0.}.{name}_() -> =
sin|cos|tan|neg|sign|log1p|trunc|frac|rsqrt {0.}.{name}_() -> =
cinv                 {0.}.reciprocal_() -> =
normal n*            random.normal_({0}, {*}) -> =
uniform n*           random.uniform_({0}, {*}) -> =
bernoulli n*         random.bernoulli_({0}, {*}) -> =
random n*            random.random_({0}, {*}) -> =
cauchy n*            random.cauchy_({0}, {*}) -> =
exponential n*       random.exponential_({0}, {*}) -> =
geometric n          random.geometric_({0}, {1}) -> =
logNormal n*         random.logNormal_({0}, {*}) -> =
sum|mean|std|var|prod|norm {0.}.{name}().item() -> n
max|min              {0.}.{name}().item() -> n
sum|mean|std|var|prod n {0.}.{name}({1d}, keepdim=True) -> t=
sum|mean|prod tn     torch.{name}({1}, {2d}, keepdim=True, out={0}) -> t1
std|var nb           {0.}.{name}({1d}, unbiased=not {2}, keepdim=True) -> t=
norm n               {0.}.norm({1}).item() -> n
norm nn              {0.}.norm({1}, {2d}, keepdim=True) -> t=
max|min n            {0.}.{name}({1d}, keepdim=True) -> t=,index
median|mode n        {0.}.{name}({1d}, keepdim=True) -> t=,index
sort                 {0.}.sort() -> t=,index
sort n               {0.}.sort({1d}) -> t=,index
sort nb              {0.}.sort({1d}, descending={2}) -> t=,index
sort b               {0.}.sort(descending={1}) -> t=,index
topk n|nn|nnb        lua.method({0}, "topk", {*}) -> t=,tLong
topk nnbb            {0.}.topk({1}, {2d}, {3}) -> t=,index
cumsum|cumprod       {0.}.{name}(0) -> t=
cumsum|cumprod n     {0.}.{name}({1d}) -> t=
eq|ne|lt|le|gt|ge n|t {0.}.{name}({1}) -> mask
all|any              bool({0.}.{name}()) -> b
equal t              {0.}.equal({1}) -> b
dot t                {0.}.flatten().dot({1.}.flatten()).item() -> n
dist t               {0.}.dist({1}).item() -> n
trace                {0.}.trace().item() -> n
size                 {0.}.size() -> y
size n               {0.}.size({1d}) -> i
dim|nDimension       {0.}.dim() -> i
nElement|numel       {0.}.numel() -> i
isContiguous         {0.}.is_contiguous() -> b
isSameSizeAs t       {0.}.size() == {1.}.size() -> b
stride n             {0.}.stride({1d}) -> i
data                 lua.Pointer({0}) -> p
storageOffset        {0.}.storage_offset() + 1 -> i
elementSize          {0.}.element_size() -> i
narrow nnn           {0.}.narrow({1d}, {2i}, {3}) -> t=
sub nn|nnnn|nnnnnn|nnnnnnnn -> t=
cat t                torch.cat([{0}, {1}], -1) -> t=
cat tn               torch.cat([{0}, {1}], {2d}) -> t=
select nn            {0.}.select({1d}, {2i}) -> t-
view n*|y            {0.}.view({*}) -> t*
viewAs t             {0.}.view_as({1}) -> t1
reshape n*|y         {0.}.reshape({*}).clone() -> t*
resize n*|y          {0.}.resize_({*}) -> t*
resizeAs t           {0.}.resize_as_({1}) -> t1
set                  {0.}.set_() -> t
set t                {0.}.set_({1}) -> t1
set z                lua.method({0}, "set", {1}) -> =
set znyy             lua.method({0}, "set", {1}, {2}, {3}, {4}) -> =
storage              lua.Storage({0}) -> z
stride               torch.Size({0.}.stride()) -> y
t                    {0.}.t() -> t=
transpose nn         {0.}.transpose({1d}, {2d}) -> t=
permute n*           {0.}.permute({*d}) -> t=
squeeze              {0.}.squeeze() -> t|?
squeeze n            {0.}.squeeze({1d}) -> t|?
expand n*|y          {0.}.expand({*}) -> t*
expandAs t           {0.}.expand_as({1}) -> t1
repeatTensor n*|y    {0.}.repeat({*}) -> t*
unfold nnn           {0.}.unfold({1d}, {2}, {3}) -> t+
contiguous|clone     {0.}.{name}() -> t=
index nt             {0.}.index_select({1d}, {2.}.long() - 1) -> t=
indexCopy ntt        {0.}.index_copy_({1d}, {2a} - 1, {3}) -> t3
indexAdd ntt         {0.}.index_add_({1d}, {2a} - 1, {3}) -> t3
indexFill ntn        {0.}.index_fill_({1d}, {2a} - 1, {3}) -> ?
gather nt            {0.}.gather({1d}, {2a} - 1) -> t=
scatter ntn|ntt      {0.}.scatter_({1d}, {2a} - 1, {3}) -> =
maskedFill tn        {0.}.masked_fill_({1m}, {2}) -> ?
maskedSelect t       {0.}.masked_select({1m}) -> t01d
maskedCopy tt        {0.}.masked_scatter_({1m}, {2}) -> =
nonzero              {0.}.nonzero() + 1 -> t02d
split n              list({0.}.split({1})) -> l
split nn             list({0.}.split({1}, {2d})) -> l
chunk nn             list({0.}.chunk({1}, {2d})) -> l
diag                 {0.}.diag() -> t^
totable              {0.}.tolist() -> list
apply f              {0.}.apply_({1}) -> =
map tf               {0.}.map_({1}, {2}) -> =
map2 ttf             {0.}.map2_({1}, {2}, {3}) -> =
float                {0.}.float() -> tFloat
double               {0.}.double() -> tDouble
half                 {0.}.half() -> tHalf
long                 {0.}.long() -> tLong
int                  {0.}.int() -> tInt
short                {0.}.short() -> tShort
byte                 {0.}.byte() -> tByte
char                 {0.}.char() -> tChar
cuda                 {0.}.float().to(cutorch.device()) -> tFloat
type                 torch7.type({0}) -> s
type s               {0.}.type({1}) -> t~
typeAs t             {0.}.type_as({1}) -> t~
new x*               {0.}.detach() -> t=
.new                 {0.}.new_empty(0) -> t
.new n*|y            {0.}.new_empty({*}) -> t*
.new l               {0.}.new_tensor({1}) -> t
""")

FUNCTIONS = Rules("""
add t(n|t)           {1o} + {2o} -> t1
add tnt              torch.add({1}, {3}, alpha={2}) -> t1
csub t(n|t)          {1o} - {2o} -> t1
csub tnt             torch.sub({1}, {3}, alpha={2}) -> t1
mul tn               {1o} * {2o} -> t1
div tn               {1o} / {2o} -> t1
cmul tt              {1o} * {2o} -> t1
cdiv tt              {1o} / {2o} -> t1
pow t(n|t)           {1.} ** {2u} -> t1
cpow tt              {1.} ** {2u} -> t1
mm tt                torch.mm({1}, {2}) -> t2d
bmm tt               torch.bmm({1}, {2}) -> t3d
mv tt                torch.mv({1}, {2}) -> t1d
ger tt               torch.outer({1}, {2}) -> t2d
dot tt               {1.}.flatten().dot({2.}.flatten()).item() -> n
dist tt              torch.dist({1}, {2}).item() -> n
addcmul ttt          torch.addcmul({1}, {2}, {3}) -> t1
addcmul tntt         torch.addcmul({1}, {3}, {4}, value={2}) -> t1
addcdiv ttt          torch.addcdiv({1}, {2}, {3}) -> t1
addcdiv tntt         torch.addcdiv({1}, {3}, {4}, value={2}) -> t1
addmm ttt            torch.addmm({1}, {2}, {3}) -> t1
addmm ntntt          torch.addmm({2}, {4}, {5}, beta={1}, alpha={3}) -> t1
fmod tn              torch.fmod({1}, {2}) -> t1
cmax t(n|t)          {1.}.clamp(min={2}) -> t1
cmin t(n|t)          {1.}.clamp(max={2}) -> t1
clamp tnn            {1.}.clamp({2}, {3}) -> t1
sqrt|exp|log|abs|ceil|floor|tanh|sigmoid t torch.{name}({1}) -> t1
sin|cos|tan|neg|sign|log1p|trunc|frac|rsqrt t torch.{name}({1}) -> t1
sqrt|exp|log|sin|cos|tan|tanh|acos|asin|atan n math.{name}({1}) -> n
ceil|floor n         math.{name}({1}) -> i
abs n                abs({1}) -> n
round|sigmoid n      torch7.{name}({1}) -> n
pow nn               lua.pow({1}, {2}) -> n
acos|asin|atan|cosh|sinh t torch.{name}({1}) -> t1
cinv t               torch.reciprocal({1}) -> t1
sum|mean|std|var|prod|norm|max|min t {1.}.{name}().item() -> n
sum|mean|std|var|prod tn {1.}.{name}({2d}, keepdim=True) -> t1
sum|mean|prod ttn    torch.{name}({2}, {3d}, keepdim=True, out={1}) -> t2
std|var tnb          {1.}.{name}({2d}, unbiased=not {3}, keepdim=True) -> t1
norm tn              {1.}.norm({2}).item() -> n
norm tnn             {1.}.norm({2}, {3d}, keepdim=True) -> t1
max|min|median|mode tn {1.}.{name}({2d}, keepdim=True) -> t1,index
sort t               torch.sort({1}) -> t1,index
sort tn              torch.sort({1}, {2d}) -> t1,index
sort tnb             torch.sort({1}, {2d}, descending={3}) -> t1,index
sort tb              torch.sort({1}, descending={2}) -> t1,index
topk tn|tnnb|tnnbb   lua.torch.topk({*}) -> t1,tLong
kthvalue tn|tnn      lua.torch.kthvalue({*}) -> t1,tLong
cumsum|cumprod t     {1.}.{name}(0) -> t1
cumsum|cumprod tn    {1.}.{name}({2d}) -> t1
eq|ne|lt|le|gt|ge t(n|t) {1.}.{name}({2}) -> mask
all|any t            bool({1.}.{name}()) -> b
equal tt             {1.}.equal({2}) -> b
trace t              {1.}.trace().item() -> n
numel|nElement t     {1.}.numel() -> i
zeros|ones n*|y      torch.{name}({*}) -> t*
rand|randn n*        torch7.{name}({*}) -> t*
rand|randn y         torch7.{name}(*{1}) -> t
eye n*               torch.eye({*}) -> t2d
linspace nn|nnn      torch7.linspace({*}) -> t1d
range n*             torch7.range({*}) -> t1d
randperm n           torch7.randperm({1}) -> t1d
cat tt               torch.cat([{1}, {2}], -1) -> t1
cat ttn              torch.cat([{1}, {2}], {3d}) -> t1
cat l                torch.cat({1}, -1) -> t
cat ln               torch.cat({1}, {2d}) -> t
view tn*             {1.}.view({*}) -> t
reshape tn*          {1.}.reshape({*}).clone() -> t
repeatTensor tn*|ty  {1.}.repeat({*}) -> t
expand tn*           {1.}.expand({*}) -> t
expandAs tt          {1.}.expand_as({2}) -> t2
viewAs tt            {1.}.view_as({2}) -> t2
split tn             list({1.}.split({2})) -> l
split tnn            list({1.}.split({2}, {3d})) -> l
chunk tnn            list({1.}.chunk({2}, {3d})) -> l
squeeze t            {1.}.squeeze() -> t|?
gather tnt           {1.}.gather({2d}, {3a} - 1) -> t1
diag t               torch.diag({1}) -> t^
tril|triu t          torch.{name}({1}) -> t1
tril|triu tn         torch.{name}({1}, {2}) -> t1
inverse t            torch.inverse({1}) -> t1
symeig t|ts|tss      lua.torch.symeig({*}) -> t1d,t2d
eig t|ts             lua.torch.eig({*}) -> t2d,t2d
svd t|ts             lua.torch.svd({*}) -> t2d,t1d,t2d
qr t                 lua.torch.qr({*}) -> t2d,t2d
gesv|gels tt         lua.torch.{name}({*}) -> t1,t2d
nonzero t            {1.}.nonzero() + 1 -> t02d
totable t            {1.}.tolist() -> list
multinomial tnb|tn   torch7.multinomial({*}) -> tLong
multinomial tn       torch7.multinomial({*}) -> tLong
data t               lua.Pointer({1}) -> p
type x               torch7.type({1}) -> s
typename x           torch7.typename({1}) -> s|nil
isTensor x           torch.is_tensor({1}) -> b
manualSeed n         torch7.manualSeed({1}) -> x
seed                 torch7.seed() -> i
initialSeed          torch7.initialSeed() -> i
random n*            torch7.random({*}) -> i
uniform|normal|exponential|cauchy|logNormal|bernoulli|geometric n* torch7.{name}({*}) -> n
getRNGState          torch7.getRNGState() -> t
setRNGState t        torch7.setRNGState({1}) -> x
setnumthreads n      torch7.setnumthreads({1}) -> x
getnumthreads        torch7.getnumthreads() -> i
setdefaulttensortype s torch7.setdefaulttensortype({1}) -> x
getdefaulttensortype torch7.getdefaulttensortype() -> s
tic                  torch7.tic() -> n
toc n                torch7.toc({1}) -> n
Timer                torch7.Timer() -> m
CmdLine x*           torch7.CmdLine({*}) -> m
load s|ss            torch7.load({*}) -> loaded
save sx|sxs          torch7.save({*}) -> x
serialize x|xs       lua.torch.serialize({*}) -> s
deserialize x|xs     lua.torch.deserialize({*}) -> loaded
""")

_OF_ONE = (
    *("sqrt", "exp", "log", "abs", "ceil", "floor", "tanh", "sigmoid", "sin", "cos", "tan", "neg"),
    *("sign", "log1p", "trunc", "frac", "rsqrt", "acos", "asin", "atan", "cosh", "sinh"),
)
# Functions that may be given their result before their arguments, where PyTorch takes ``out=``.
WITH_RESULT = {
    "add": "torch.add", "csub": "torch.sub", "mul": "torch.mul", "div": "torch.div",
    "cmul": "torch.mul", "cdiv": "torch.div", "pow": "torch.pow", "cpow": "torch.pow",
    "mm": "torch.mm", "mv": "torch.mv", "bmm": "torch.bmm", "addcmul": "torch.addcmul",
    "addcdiv": "torch.addcdiv", "addmm": "torch.addmm", "cinv": "torch.reciprocal",
    "clamp": "torch.clamp",
    **{name: f"torch.{name}" for name in _OF_ONE},
}  # fmt: skip

DTYPES = {
    "Double": "torch.float64",
    "Float": "torch.float32",
    "Half": "torch.float16",
    "Long": "torch.int64",
    "Int": "torch.int32",
    "Short": "torch.int16",
    "Byte": "torch.uint8",
    "Char": "torch.int8",
}

# These give their last argument in Torch7, in PyTorch the tensor that they change.
GIVE_THEIR_LAST = {"indexCopy", "indexAdd", "indexFill", "maskedFill"}

_MOST = 4096  # combinations of kinds that are tried

# Of whole numbers PyTorch rounds, refuses or promotes these otherwise.
FLOATING_ONLY = {
    *("mul", "div", "cdiv", "add", "csub", "pow", "cpow", "mean", "std", "var", "norm", "addcmul"),
    *("addcdiv", "sqrt", "exp", "log", "tanh", "sigmoid", "cumsum", "cumprod", "abs", "fill"),
    *("ceil", "floor", "neg", "cinv", "uniform", "normal", "sum", "prod", "clamp", "cmax", "cmin"),
    "fmod",
}


def names() -> KeysView[str]:
    """Return the methods that there are rules for."""
    return METHODS.names()


def gives_tensor(table: Rules, name: str) -> bool:
    """Return whether a method or function gives one tensor, whatever it is given."""
    results = {rule.result for rule in table.all(name)}
    return bool(results) and all(r[0] in "=t" and not {*",-|"} & {*r} for r in results)


def gives_itself(method: str | None) -> bool:
    """Return whether a method changes its tensor, and gives it."""
    return method in ("resize", "resizeAs", "mm", "mv", "bmm") or any(
        r.result == "=" for r in METHODS.all(method or "")
    )


def rule(table: Rules, name: str, kinds: str) -> Rule | None:
    """Return the rule for ``x:name(…)`` or ``torch.name(…)``; ``?`` is an argument of any kind.

    Where that leaves one rule only, the argument must be of the kind that this one takes.
    """
    whole = table.find(name, kinds)  # also where it takes an argument of any kind
    if whole is not None or "?" not in kinds:
        return whole
    fitting = _possible(table, name, kinds)
    if table is FUNCTIONS:  # its number may be a text: what was given on a command line
        unknown = {letters[i] for letters, _ in fitting for i, k in enumerate(kinds) if k == "?"}
        fitting = fitting if unknown == {"t"} else []
    found = {rule for _, rule in fitting}
    return found.pop() if len(found) == 1 else None


def taken(table: Rules, name: str, kinds: str) -> list[set[str]]:
    """Return the kinds that each argument of ``x:name(…)`` or ``torch.name(…)`` may have."""
    fitting = (letters for letters, _ in _possible(table, name, kinds))
    return [set(letters) for letters in zip(*fitting, strict=True)]


@functools.cache
def _possible(table: Rules, name: str, kinds: str) -> list[tuple[str, Rule | None]]:
    """Return the kinds of arguments that there is a rule for, where ``?`` may be any.

    A method's tensor, and what a function is given first, may be where the result goes: these have
    no rule.
    """
    found: dict[str, Rule | None] = {}
    count = kinds.count("?")
    for rules in (FUNCTIONS, METHODS) if table is METHODS else (FUNCTIONS,):
        texts = [rule.kinds.pattern for rule in rules.all(name)]
        letters = [k for k in "tnsblfyz" if any(k in text or "." in text for text in texts)]
        if len(letters) ** count > _MOST:
            return []
        for chosen in itertools.product(letters, repeat=count):
            left = iter(chosen)
            tried = "".join(next(left) if kind == "?" else kind for kind in kinds)
            rule = rules.find(name, tried)
            if rule is not None:
                found[tried] = rule if rules is table else None
            elif table is FUNCTIONS and tried[:1] == "t" and rules.find(name, tried[1:]):
                found[tried] = None
    return list(found.items())
