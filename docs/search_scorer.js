// The ranks of the search: the page that explains a word first, then the guide; measurements and the design last.
var EXPLAINS = {
  missing: /unknown|missing|null|\bnan\b|record|infrequent/i,
  forms: /output|sparse|csr|csc|dtype|remainder|lightgbm|xgboost|catboost/i,
  high_cardinality: /min_frequency|max_categories|cardinality|rare|identifier/i,
  memory: /memory|estimate|batch|partial_fit|buffer/i,
  masks: /mask|ignore_index|smoothing|segmentation|pixel/i,
  tensors: /one_hot|decode|axis|negative_indices|out_of_range/i,
  sequences: /sequence|letter|\bdna\b|\brna\b|protein|alphabet|fasta/i,
  multi_label: /multi_hot|label|tags/i,
  coming_from: /drop_first|dummy|dummies|reindex|labelencoder|ordinal|category_encoders/i,
  deployment: /pickle|save|load|json|serve|service|drift|refit|merge/i,
  files: /csv|parquet|file|folder|command|\bcli\b|\bna\b/i,
  faq: /error|warning|install/i,
};
var GUIDE = new Set([
  ...Object.keys(EXPLAINS), "get_started", "tables", "codes", "implicit", "types", "sql", "onnx", "recipes", "choosing",
]);
var QUERY = new URLSearchParams(window.location.search).get("q") || "";
var Scorer = {
  // A result is [page, title, anchor, description, score, file, kind].
  score: ([page, , anchor, , score]) => {
    if (EXPLAINS[page] && EXPLAINS[page].test(QUERY)) score += anchor ? 12 : 20;
    if (GUIDE.has(page) || page.startsWith("integrations/")) return score + 12;
    if (page.startsWith("reference/")) return score + 4;
    if (/^(benchmarks|performance)\/|^(design|reliability|changelog)$/.test(page)) return score - 20;
    return score;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
