"""
From a label mask to class planes
=================================

A segmentation network needs one plane for each class. ``axis=1`` inserts the axis of the classes
after the axis of the images: (N, H, W) becomes (N, C, H, W), without a transposed copy.

The script needs ``pip install onehot-fast matplotlib``.
"""

# %%
# One image with three classes: background, disc and square. Pixels at the edge of the disc have the
# label 255, which means unlabelled, as in PASCAL VOC.
import matplotlib.pyplot as plt
import numpy as np

from onehot_fast import decode, one_hot

height, width, void = 96, 128, 255
y, x = np.mgrid[:height, :width]
distance = np.hypot(y - 48, x - 40)
mask = np.zeros((1, height, width), np.uint8)
mask[0, 20:60, 80:115] = 2
mask[0, distance < 30] = 1
mask[0, abs(distance - 30) < 2] = void

# %%
# ``ignore_index`` makes these pixels zero in all planes. The other two options reject invalid
# labels.
planes = one_hot(mask, 3, axis=1, ignore_index=void, out_of_range="error", negative_indices="error")
planes.shape, planes.dtype

# %%
# A labelled pixel is one in a single plane, and zero in the others. Unlabelled pixels are zero in
# all planes.
figure, axes = plt.subplots(1, 4, figsize=(11, 2.6), layout="constrained")
shown = np.ma.masked_equal(mask[0], void)
axes[0].imshow(shown, cmap="viridis", vmin=0, vmax=2)
axes[0].set_title("mask[0]; white: unlabelled")
for i, name in enumerate(["background", "disc", "square"]):
    axes[1 + i].imshow(planes[0, i], cmap="gray", vmin=0, vmax=1)
    axes[1 + i].set_title(f"planes[0, {i}]: {name}")
for each in axes:
    each.set(xticks=[], yticks=[])

# %%
# ``decode`` distinguishes unlabelled pixels from class 0, and ``argmax`` does not.
labels = decode(planes, axis=1)
assert ((labels == mask) | ((labels == -1) & (mask == void))).all()
np.unique(labels), np.unique(planes.argmax(axis=1))
