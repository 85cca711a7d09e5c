/** SQL that agents may use: values of a known size, and rows one by one. */

/** Syntax nodes. Left out: row locks, parameters, XML, JSON constructors, GROUPING SETS, … */
export const NODES: ReadonlySet<string> = new Set(
  `A_ArrayExpr A_Const A_Expr A_Indices A_Indirection A_Star Alias BooleanTest BoolExpr CaseExpr CaseWhen CoalesceExpr ColumnRef
  CommonTableExpr FuncCall Integer JoinExpr List MinMaxExpr NamedArgExpr NullTest RangeFunction RangeSubselect RangeVar ResTarget
  RowExpr SelectStmt SortBy SQLValueFunction String SubLink TypeCast WindowDef`.split(/\s+/),
);

/** Without types that pad (`char`, `bit`) or that the server looks up. */
export const TYPES: ReadonlySet<string> = new Set(
  `bool bytea date float4 float8 int2 int4 int8 interval json jsonb numeric text time timestamp timestamptz timetz uuid varchar`.split(
    ' ',
  ),
);

export const OPERATORS: ReadonlySet<string> = new Set(
  `+ - * / % ^ = <> != < > <= >= || -> ->> #> #>> @> <@ ? ?| ?& && & | # << >> ~~ ~~* !~~ !~~* BETWEEN`
    .split(' ')
    .concat('NOT BETWEEN', 'BETWEEN SYMMETRIC', 'NOT BETWEEN SYMMETRIC'),
);

export const SELECTING_OPERATORS: ReadonlySet<string> = new Set(['-', '->', '->>', '#>', '#>>']);

/** Slow with many digits, and no time limit interrupts them. */
export const SLOW_OPERATORS: ReadonlySet<string> = new Set(['*', '/', '%', '^']);

/** They return a number, a time, a truth value or a short text. */
export const SMALL_FUNCTIONS: ReadonlySet<string> = new Set(
  `abs age array_length array_position ascii avg bit_length bool_and bool_or cardinality ceil ceiling char_length character_length
  chr clock_timestamp corr count cume_dist date_bin date_part date_trunc dense_rank div every exp extract floor generate_series
  get_byte jsonb_array_length jsonb_typeof json_array_length json_typeof justify_days justify_hours justify_interval length
  like_escape ln log make_date make_interval make_timestamp make_timestamptz md5 mod now ntile octet_length overlaps percent_rank
  percentile_cont pg_typeof position pow power random rank round row_number sha256 sign sqrt statement_timestamp stddev
  stddev_pop stddev_samp strpos sum timezone to_date to_hex to_number to_timestamp transaction_timestamp trim_scale trunc
  var_pop var_samp variance width_bucket
  amount block_key candle_price collection_key token_id_key token_key transaction_key wallet_key`.split(/\s+/),
);

export const SELECTING_FUNCTIONS: ReadonlySet<string> = new Set(
  `btrim bytes decode first_value initcap json_array_elements json_array_elements_text json_each json_each_text json_object_keys
  jsonb_array_elements jsonb_array_elements_text jsonb_each jsonb_each_text jsonb_object_keys lag last_value lead left lower ltrim
  max min nth_value reverse right rtrim split_part starts_with substr translate unnest upper`.split(/\s+/),
);

/** Schemas that a statement may name; null: all that the role can read. Others show statements of other keys. */
const SCHEMAS: ReadonlyMap<string, ReadonlySet<string> | null> = new Map([
  ['analytics', null],
  ['contracts', null],
  ['information_schema', new Set(['columns', 'schemata', 'tables', 'views'])],
]);

/** Without a schema, `pg_catalog` comes before `analytics`. */
export function isReadable(schema: string | undefined, relation: string): boolean {
  if (schema === undefined) return !relation.startsWith('pg_');
  const relations = SCHEMAS.get(schema);
  return relations === null || relations?.has(relation) === true;
}

/** Their state is a value that can grow after Postgres has made its group in a hash table. */
export const GROWING_AGGREGATES: ReadonlySet<string> = new Set(['max', 'min']);

/** The same with numbers of many digits. */
export const NUMERIC_AGGREGATES: ReadonlySet<string> = new Set(
  'avg stddev stddev_pop stddev_samp sum var_pop var_samp variance'.split(' '),
);

/** They make numbers of many digits from short ones. */
export const LENGTHENING_FUNCTIONS: ReadonlySet<string> = new Set(['exp', 'pow', 'power', 'to_number']);
