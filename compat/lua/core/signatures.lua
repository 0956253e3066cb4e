-- The functions and methods of tensors: one line each, `NAME TYPES: ARGUMENTS -> OPERATION | ARGUMENTS -> OPERATION`.
--
--   r     the result: may be left out of a function (a new tensor), is what a method is called on
--   r?    the result, which may be left out in both;  r!  must be there in both
--   Lr Br a result of the type LongTensor or ByteTensor
--   =T    a tensor which a method may leave out: the result itself
--   T T2  a tensor, a tensor of 2 dimensions;  L  a LongTensor;  TF TD  a FloatTensor, a DoubleTensor
--   real accreal double long int index boolean   numbers (and a boolean) of that C type;  [real=1]  may be left out
--   (V|F) a letter, the first by default;  gen  a Generator, maybe;  dims  sizes or a LongStorage;  {T}  a table of tensors
--
-- TYPES: all (but half), float (float and double), byte, int (int and long). A leading + means that there is no method, a leading
-- - that there is no function. "Expected arguments" in errors is the same text as Torch7 writes it.
local t7 = ...
t7.signatures = [[
zero all: r! -> zero
fill all: r! real -> fill
zeros all: r dims -> zeros
ones all: r dims -> ones
reshape all: r? T dims -> reshape
gather all: r? T index L -> gather
scatter all: r! index L T -> scatter | r! index L real -> scatterFill
dot all: T T -> dot
equal all: T T -> equal
add all: r =T real -> adds | r =T [real=1] T -> cadd
csub all: r =T real -> subs | r =T [real=1] T -> csub
mul all: r =T real -> mul
div all: r =T real -> div
lshift all: r =T real -> lshift
rshift all: r =T real -> rshift
fmod all: r =T real -> fmod
remainder all: r =T real -> remainder
bitand all: r =T real -> bitand
bitor all: r =T real -> bitor
bitxor all: r =T real -> bitxor
mod all: r =T real -> fmod
clamp all: r =T real real -> clamp
match all: r T T [real=1] -> match
cmul all: r =T T -> cmul
cpow all: r =T T -> cpow
cdiv all: r =T T -> cdiv
clshift all: r =T T -> clshift
crshift all: r =T T -> crshift
cfmod all: r =T T -> cfmod
cremainder all: r =T T -> cremainder
cbitand all: r =T T -> cbitand
cbitor all: r =T T -> cbitor
cbitxor all: r =T T -> cbitxor
cmod all: r =T T -> cfmod
addcmul all: r =T [real=1] T T -> addcmul
addcdiv all: r =T [real=1] T T -> addcdiv
mv all: r T2 T1 -> mv
mm all: r T2 T2 -> mm
bmm all: r T3 T3 -> bmm
ger all: r T1 T1 -> ger
+addmv all: r [real=1] T1 [real=1] T2 T1 -> addmv
+addmm all: r [real=1] T2 [real=1] T2 T2 -> addmm
+addr all: r [real=1] T2 [real=1] T1 T1 -> addr
+addbmm all: r [real=1] T2 [real=1] T3 T3 -> addbmm
+baddbmm all: r [real=1] T3 [real=1] T3 T3 -> baddbmm
-addmv all: r1 =T1 [real=1] T2 T1 -> addmv1 | r1 real =T1 real T2 T1 -> addmv
-addmm all: r2 =T2 [real=1] T2 T2 -> addmm1 | r2 real =T2 real T2 T2 -> addmm
-addr all: r2 =T2 [real=1] T1 T1 -> addr1 | r2 real =T2 real T1 T1 -> addr
-addbmm all: r2 =T2 [real=1] T3 T3 -> addbmm1 | r2 real =T2 real T3 T3 -> addbmm
-baddbmm all: r3 =T3 [real=1] T3 T3 -> baddbmm1 | r3 real =T3 real T3 T3 -> baddbmm
numel all: T -> numel
cumsum all: r? T [index=1] -> cumsum
cumprod all: r? T [index=1] -> cumprod
sum all: T -> sumall | r? T index -> sum
prod all: T -> prodall | r? T index -> prod
min all: T -> minall | r? Lr? T index -> min
max all: T -> maxall | r? Lr? T index -> max
cmin all: r? =T T -> cmin | r? =T real -> cminValue
cmax all: r? =T T -> cmax | r? =T real -> cmaxValue
trace all: T -> trace
cross all: r? T T [index=0] -> cross
diag all: r? T [long=0] -> diag
eye all: r long [long=0] -> eye
range all: r accreal accreal [accreal=1] -> range
randperm all: r gen long -> randperm
sort all: r? Lr? T [index=last] [boolean=false] -> sort
topk all: r? Lr? T [long=1] [index=last] [boolean=false] [boolean=false] -> topk
kthvalue all: r? Lr? T long [index=last] -> kthvalue
mode all: r? Lr? T [index=last] -> mode
median all: r? Lr? T [index=last] -> median
tril all: r? T [int=0] -> tril
triu all: r? T [int=0] -> triu
cat all: r? T T [index=none] -> cat | r? {T} [index=none] -> catArray
random all: gen long long -> random2 | gen long -> random1 | gen -> random | r! gen long long -> random2_ | r! gen long -> random1_ | r! gen -> random_
geometric all: gen double -> geometric | r! gen double -> geometric_
bernoulli all: gen [double=0.5] -> bernoulli | r! gen [double=0.5] -> bernoulli_ | r! gen TF -> bernoulli_ | r! gen TD -> bernoulli_
squeeze all: r? T -> squeeze | r? T index -> squeeze1d
sign all: r =T -> sign
conv2 all: r? T2 T2 (V|F) -> conv2 | r? T3 T3 (V|F) -> conv2c | r? T3 T4 (V|F) -> conv2mv
xcorr2 all: r? T2 T2 (V|F) -> xcorr2 | r? T3 T3 (V|F) -> xcorr2c | r? T3 T4 (V|F) -> xcorr2mv
conv3 all: r? T3 T3 (V|F) -> conv3 | r? T4 T4 (V|F) -> conv3c | r? T4 T5 (V|F) -> conv3mv
xcorr3 all: r? T3 T3 (V|F) -> xcorr3 | r? T4 T4 (V|F) -> xcorr3c | r? T4 T5 (V|F) -> xcorr3mv
lt all: Br? T real -> lt | r! T real -> lt | Br? T T -> ltT | r! T T -> ltT
gt all: Br? T real -> gt | r! T real -> gt | Br? T T -> gtT | r! T T -> gtT
le all: Br? T real -> le | r! T real -> le | Br? T T -> leT | r! T T -> leT
ge all: Br? T real -> ge | r! T real -> ge | Br? T T -> geT | r! T T -> geT
eq all: Br? T real -> eq | r! T real -> eq | Br? T T -> eqT | r! T T -> eqT
ne all: Br? T real -> ne | r! T real -> ne | Br? T T -> neT | r! T T -> neT
nonzero all: Lr? T -> nonzero
all byte: T -> logicalall
any byte: T -> logicalany
abs int: r =T -> abs | real -> absNumber
mean float: T -> meanall | r? T index -> mean
var float: T [boolean=false] -> varall | r? T index [boolean=false] -> var
std float: T [boolean=false] -> stdall | r? T index [boolean=false] -> std
histc float: r? T [long=100] [double=0] [double=0] -> histc
bhistc float: r? T [long=100] [double=0] [double=0] -> bhistc
norm float: T [real=2] -> normall | r? T real index -> norm
renorm float: r =T real index real -> renorm
dist float: T T [real=2] -> dist
linspace float: r real real [long=100] -> linspace
logspace float: r real real [long=100] -> logspace
log float: r =T -> log | real -> logNumber
log1p float: r =T -> log1p | real -> log1pNumber
exp float: r =T -> exp | real -> expNumber
cos float: r =T -> cos | real -> cosNumber
acos float: r =T -> acos | real -> acosNumber
cosh float: r =T -> cosh | real -> coshNumber
sin float: r =T -> sin | real -> sinNumber
asin float: r =T -> asin | real -> asinNumber
sinh float: r =T -> sinh | real -> sinhNumber
tan float: r =T -> tan | real -> tanNumber
atan float: r =T -> atan | real -> atanNumber
tanh float: r =T -> tanh | real -> tanhNumber
sqrt float: r =T -> sqrt | real -> sqrtNumber
round float: r =T -> round | real -> roundNumber
ceil float: r =T -> ceil | real -> ceilNumber
floor float: r =T -> floor | real -> floorNumber
trunc float: r =T -> trunc | real -> truncNumber
abs float: r =T -> abs | real -> absNumber
frac float: r =T -> frac | real -> fracNumber
rsqrt float: r =T -> rsqrt | real -> rsqrtNumber
sigmoid float: r =T -> sigmoid | real -> sigmoidNumber
neg float: r =T -> neg
cinv float: r =T -> cinv
lerp float: r =T T real -> lerp | real real real -> lerpNumber
atan2 float: r =T T -> atan2 | real real -> atan2Number
pow float: r =T real -> pow | r real =T -> tpow | real real -> powNumber
rand float: r gen dims -> rand
randn float: r gen dims -> randn
multinomial float: Lr gen T int [boolean=false] -> multinomial
multinomialAliasSetup_ float: T Lr r -> multinomialAliasSetup
multinomialAlias_ float: Lr gen L T -> multinomialAlias
uniform float: gen [double=0] [double=1] -> uniform | r! gen [real=0] [real=1] -> uniform_
normal float: gen [double=0] [double=1] -> normal | r! gen [real=0] [real=1] -> normal_
cauchy float: gen [double=0] [double=1] -> cauchy | r! gen [real=0] [real=1] -> cauchy_
logNormal float: gen [double=1] [double=2] -> logNormal | r! gen [real=1] [real=2] -> logNormal_
exponential float: gen double -> exponential | r! gen real -> exponential_
+gesv float: r! r! T T -> gesv | T T -> gesvNew
+gels float: r! r! T T -> gels | T T -> gelsNew
+trtrs float: r! r! T T (U|L) (N|T) (N|U) -> trtrs | T T (U|L) (N|T) (N|U) -> trtrsNew
+symeig float: r! r! T (N|V) (U|L) -> symeig | T (N|V) (U|L) -> symeigNew
+eig float: r! r! T (N|V) -> eig | T (N|V) -> eigNew
+svd float: r! r! r! T (S|A) -> svd | T (S|A) -> svdNew
+inverse float: r! T -> inverse | T -> inverseNew
+potrf float: r! T (U|L) -> potrf | T (U|L) -> potrfNew
+potrs float: r! T T (U|L) -> potrs | T T (U|L) -> potrsNew
+potri float: r! T (U|L) -> potri | T (U|L) -> potriNew
+pstrf float: r! Ir! T (U|L) [real=-1] -> pstrf | T (U|L) [real=-1] -> pstrfNew
+qr float: r! r! T -> qr | T -> qrNew
+geqrf float: r! r! T -> geqrf | T -> geqrfNew
+orgqr float: r! T T -> orgqr | T T -> orgqrNew
+ormqr float: r! T T T (L|R) (N|T) -> ormqr | T T T (L|R) (N|T) -> ormqrNew
]]
