-- classes with a parent, methods that are replaced, tostring
require 'torch'
local ShapeClass = torch.class('Shape')
function ShapeClass:__init(name) self.name = name; self.tags = {} end
function ShapeClass:area() return 0 end
function ShapeClass:tag(t) table.insert(self.tags, t); return self end
function ShapeClass:describe() return string.format('%s with area %.2f (%s)', self.name, self:area(), table.concat(self.tags, ',')) end

local CircleClass, parent = torch.class('Circle', 'Shape')
function CircleClass:__init(r) parent.__init(self, 'circle'); self.r = r end
function CircleClass:area() return math.pi * self.r ^ 2 end

local SquareClass = torch.class('Square', 'Shape')
function SquareClass:__init(a) self.name = 'square'; self.a = a; self.tags = {} end
function SquareClass:area() return self.a * self.a end

local shapes = {Circle(1), Square(2):tag('flat'):tag('even'), Shape('nothing')}
local total = 0
for i, s in ipairs(shapes) do
   print(i, s:describe())
   total = total + s:area()
end
print(string.format('%.4f', total), torch.type(shapes[1]), torch.isTypeOf(shapes[1], 'Shape'), torch.isTypeOf(shapes[2], 'Circle'))
