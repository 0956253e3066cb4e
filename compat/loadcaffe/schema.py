"""Caffe's messages: the numbers of the fields that a net is built from."""

from __future__ import annotations

from typing import Any

try:
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
except ImportError as error:
    raise ImportError(
        "Caffe's files need protobuf: pip install protobuf, or dptable[caffe]"
    ) from error

# A star marks a field that repeats. `data` are packed floats, which on the wire are bytes.
_MESSAGES = {
    "BlobShape": "dim=1:int64*",
    "Blob": "num=1:int32 channels=2:int32 height=3:int32 width=4:int32 data=5:bytes* "
    "shape=7:BlobShape",
    "Convolution": "pad=3:uint32 kernel_size=4:uint32 group=5:uint32=1 stride=6:uint32=1 "
    "pad_h=9:uint32 pad_w=10:uint32 kernel_h=11:uint32 kernel_w=12:uint32 stride_h=13:uint32 "
    "stride_w=14:uint32",
    "Pooling": "pool=1:int32 kernel_size=2:uint32 stride=3:uint32=1 pad=4:uint32 "
    "kernel_h=5:uint32 kernel_w=6:uint32 stride_h=7:uint32 stride_w=8:uint32 pad_h=9:uint32 "
    "pad_w=10:uint32",
    "LRN": "local_size=1:uint32=5 alpha=2:float=1 beta=3:float=0.75 k=5:float=1",
    "InnerProduct": "num_output=1:uint32",
    "Dropout": "dropout_ratio=1:float=0.5",
    "OldLayer": "name=4:string type=5:int32 blobs=6:Blob* convolution_param=10:Convolution "
    "dropout_param=12:Dropout inner_product_param=17:InnerProduct lrn_param=18:LRN "
    "pooling_param=19:Pooling",
    "Layer": "name=1:string type=2:string blobs=7:Blob* convolution_param=106:Convolution "
    "dropout_param=108:Dropout inner_product_param=117:InnerProduct lrn_param=118:LRN "
    "pooling_param=121:Pooling",
    "Net": "name=1:string layers=2:OldLayer* input_dim=4:int32* input_shape=8:BlobShape* "
    "layer=100:Layer*",
}


def _net_class() -> Any:
    field_type = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="dptable/caffe.proto", package="dptable.caffe")
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for field in fields.split():
            key, kind = field.split(":")
            label, number = key.split("=")
            kind, _, default = kind.partition("=")
            repeated = kind.endswith("*")
            kind = kind.rstrip("*")
            made = message.field.add(
                name=label,
                number=int(number),
                label=field_type.LABEL_REPEATED if repeated else field_type.LABEL_OPTIONAL,
            )
            if kind in _MESSAGES:
                made.type, made.type_name = field_type.TYPE_MESSAGE, f".dptable.caffe.{kind}"
            else:
                made.type = getattr(field_type, f"TYPE_{kind.upper()}")
            if default:
                made.default_value = default
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("dptable.caffe.Net"))


Net = _net_class()
