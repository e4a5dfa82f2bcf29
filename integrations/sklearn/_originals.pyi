from collections.abc import Iterable
from typing import Any, Literal, Self

from ._columns import AnyArray

class _Estimator:
    n_features_in_: int

    def __init_subclass__(cls, auto_wrap_output_keys: tuple[str, ...] | None = ()) -> None: ...
    def get_params(self, deep: bool = True) -> dict[str, Any]: ...
    def set_params(self, **params: Any) -> Self: ...
    def get_metadata_routing(self) -> Any: ...
    def set_output(
        self, *, transform: Literal["default", "pandas", "polars"] | None = None
    ) -> Self: ...

class _OfTables(_Estimator):
    feature_names_in_: AnyArray

    def fit(self, X: Any, y: Any = None) -> Self: ...
    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any: ...
    def transform(self, X: Any) -> Any: ...
    def inverse_transform(self, X: Any) -> AnyArray: ...
    def get_feature_names_out(self, input_features: Any = None) -> AnyArray: ...

class _OfLabels(_Estimator):
    classes_: AnyArray

    def fit(self, y: Any) -> Self: ...
    def fit_transform(self, y: Any) -> Any: ...
    def transform(self, y: Any) -> Any: ...

class BaseEncoder(_OfTables):
    categories: Any
    categories_: list[AnyArray]
    _check_infrequent_enabled: Any
    _default_to_infrequent_mappings: Any
    _drop_idx_after_grouping: Any
    _fit_infrequent_category_mapping: Any
    _infrequent_enabled: bool
    _infrequent_indices: Any
    _missing_indices: Any
    _n_features_outs: Any

    def _fit(
        self, X: Any, handle_unknown: str = ..., ensure_all_finite: Any = ..., **options: Any
    ) -> dict[str, Any]: ...
    def _transform(self, X: Any, *args: Any, **kwargs: Any) -> tuple[AnyArray, AnyArray]: ...

class OneHotEncoder(BaseEncoder):
    drop: Any
    sparse_output: bool
    dtype: Any
    handle_unknown: str
    min_frequency: float | None
    max_categories: int | None
    feature_name_combiner: Any
    drop_idx_: AnyArray | None
    infrequent_categories_: list[AnyArray | None]

    def __init__(
        self,
        *,
        categories: Any = "auto",
        drop: Any = None,
        sparse_output: bool = True,
        dtype: Any = ...,
        handle_unknown: Literal["error", "ignore", "infrequent_if_exist", "warn"] = "error",
        min_frequency: float | None = None,
        max_categories: int | None = None,
        feature_name_combiner: Any = "concat",
    ) -> None: ...

class OrdinalEncoder(BaseEncoder):
    dtype: Any
    handle_unknown: str
    unknown_value: Any
    encoded_missing_value: Any
    min_frequency: float | None
    max_categories: int | None
    infrequent_categories_: list[AnyArray | None]

    def __init__(
        self,
        *,
        categories: Any = "auto",
        dtype: Any = ...,
        handle_unknown: Literal["error", "use_encoded_value"] = "error",
        unknown_value: Any = None,
        encoded_missing_value: Any = ...,
        min_frequency: float | None = None,
        max_categories: int | None = None,
    ) -> None: ...

class TargetEncoder(BaseEncoder):
    target_type: str
    smooth: Any
    cv: Any
    classes_: AnyArray | None
    encodings_: list[AnyArray]
    target_mean_: Any
    target_type_: str

    def __init__(
        self,
        categories: Any = "auto",
        target_type: Literal["auto", "continuous", "binary", "multiclass"] = "auto",
        smooth: Any = "auto",
        cv: Any = 5,
        shuffle: Any = ...,
        random_state: Any = ...,
    ) -> None: ...
    def _fit_encodings_all(self, X: Any, y: Any) -> Any: ...
    def _transform_X_ordinal(
        self,
        X_out: AnyArray,
        X_ordinal: AnyArray,
        X_unknown_mask: AnyArray,
        row_indices: Any,
        encodings: list[AnyArray],
        target_mean: Any,
    ) -> None: ...

class KBinsDiscretizer(_OfTables):
    n_bins: Any
    encode: str
    strategy: str
    dtype: Any
    bin_edges_: AnyArray
    n_bins_: AnyArray

    def __init__(
        self,
        n_bins: Any = 5,
        *,
        encode: Literal["onehot", "onehot-dense", "ordinal"] = "onehot",
        strategy: Literal["uniform", "quantile", "kmeans"] = "quantile",
        quantile_method: str = ...,
        dtype: Any = None,
        subsample: int | None = 200_000,
        random_state: Any = None,
    ) -> None: ...

class LabelBinarizer(_OfLabels):
    neg_label: float
    pos_label: float
    sparse_output: bool
    y_type_: str
    sparse_input_: bool

    def __init__(
        self, *, neg_label: float = 0, pos_label: float = 1, sparse_output: bool = False
    ) -> None: ...
    def inverse_transform(self, Y: Any, threshold: float | None = None) -> Any: ...

class MultiLabelBinarizer(_OfLabels):
    classes: Iterable[Any] | None
    sparse_output: bool
    _build_cache: Any

    def __init__(
        self, *, classes: Iterable[Any] | None = None, sparse_output: bool = False
    ) -> None: ...
    def inverse_transform(self, yt: Any) -> list[tuple[Any, ...]]: ...
