import {
  GROWING_AGGREGATES,
  isReadable,
  LENGTHENING_FUNCTIONS,
  NODES,
  NUMERIC_AGGREGATES,
  OPERATORS,
  SELECTING_FUNCTIONS,
  SELECTING_OPERATORS,
  SLOW_OPERATORS,
  SMALL_FUNCTIONS,
  TYPES,
} from './allowed-sql.ts';

/** Values for one row. One that grows counts as often as it fits its largest input. */
export const VALUES_MAX = 400;

/** A statement uses something that is not allowed. The message is for the agent. */
export class StatementRefusal extends Error {}

export interface StatementFacts {
  readonly innerSorts: number;
  /** An aggregate has values that grow, so a hash table of its groups has no bound. */
  readonly hasGrowingGroups: boolean;
  /** Rows with data of logs that a sort with a limit would keep. */
  readonly sortedData: number;
}

type Fields = Readonly<Record<string, unknown>>;

/** Sizes are multiples of the largest input. */
interface Scope {
  readonly columns: number;
  /** Tables and subqueries: as a column, their name means a whole row. */
  readonly rows: ReadonlySet<string>;
  readonly queries: ReadonlyMap<string, number>;
}

export function measureStatement(tree: unknown): StatementFacts {
  const statements = listOf(fieldsOf(tree).stmts);
  const select = fieldsOf(fieldsOf(statements[0]).stmt).SelectStmt;
  if (statements.length !== 1 || select === undefined)
    throw new StatementRefusal('The text must be exactly one SELECT statement (42601)');
  const measure = new Measure();
  measure.select(fieldsOf(select), { columns: 1, rows: new Set(), queries: new Map() });
  measure.requireSmallValues();
  const { innerSorts, hasGrowingGroups, sortedData } = measure;
  return { innerSorts, hasGrowingGroups, sortedData };
}

class Measure {
  innerSorts = 0;
  #values = 0;
  #tables = 0;
  #products = 0;
  #hasGrowing = false;
  #hasNumeric = false;
  #hasLongNumbers = false;
  #computed = 0;
  #constantBytes = COLUMN_BYTES;
  #hasLongColumns = false;
  #isSorted = false;
  #readsLogs = false;
  #readsData = false;
  #limit = 0;
  /** That a sort with a limit keeps. */
  #rows = ROWS_MAX;

  get hasGrowingGroups(): boolean {
    return this.#hasGrowing || (this.#hasNumeric && (this.#hasLongNumbers || this.#products > PRODUCTS_MAX));
  }

  get sortedData(): number {
    return this.#isSorted && this.#readsLogs && this.#readsData ? this.#limit : 0;
  }

  requireSmallValues(): void {
    if (this.#hasLongColumns && this.#computed > LONG_VALUES_MAX)
      throw new StatementRefusal(
        'Columns of logs and own contracts can hold a megabyte, and the statement makes too many or too long values of them. Use fewer casts to text and ||',
      );
    // A sort with a limit keeps as many rows in memory, however long: long ones take the place of short ones.
    if (this.#isSorted && this.#rows * this.#computed * this.#constantBytes > SORTED_BYTES_MAX)
      throw new StatementRefusal(
        `ORDER BY with a limit of ${this.#rows} rows would keep too many or too long computed values. Use a smaller LIMIT, shorter constants, or compute the values of fewer rows`,
      );
  }

  select(given: Fields, outer: Scope): number {
    if (given.intoClause !== undefined) throw new StatementRefusal('SELECT INTO is not allowed (42601)');
    let scope = this.#withQueries(fieldsOf(given.withClause ?? {}), outer);
    for (const item of listOf(given.fromClause)) scope = this.#from(item, scope);
    let largest = 1;
    for (const target of listOf(given.targetList)) {
      const { val } = fieldsOf(fieldsOf(target).ResTarget);
      this.#readsData ||= isStar(val);
      const size = isStar(val) ? scope.columns : this.#expression(val, scope);
      this.#count(isStar(val) ? STAR_VALUES * size : size, 0);
      largest = Math.max(largest, size);
    }
    for (const half of [given.larg, given.rarg])
      if (half !== undefined) largest = Math.max(largest, this.select(fieldsOf(half), scope));
    if (given.op !== 'SETOP_NONE' && given.op !== 'SETOP_UNION')
      throw new StatementRefusal('INTERSECT and EXCEPT are not allowed. Use EXISTS or NOT EXISTS');
    const {
      withClause: _with,
      fromClause: _from,
      targetList: _targets,
      larg: _left,
      rarg: _right,
      ...others
    } = given;
    // ORDER BY and GROUP BY may name a column of the result instead of a table.
    const names = new Set(listOf(given.targetList).map((target) => fieldsOf(fieldsOf(target).ResTarget).name));
    const rows = new Set([...scope.rows].filter((name) => !names.has(name)));
    const { sortClause, groupClause, ...conditions } = others;
    this.#isSorted ||= sortClause !== undefined;
    const limit = rowsOf(conditions.limitCount) + rowsOf(conditions.limitOffset);
    this.#rows = Math.max(this.#rows, limit);
    const isUnlimited = sortClause !== undefined && rowsOf(conditions.limitCount) === 0;
    this.#limit = Math.max(this.#limit, isUnlimited ? ROWS_MAX : limit);
    this.#expressions({ sortClause, groupClause }, { ...scope, rows });
    return Math.max(largest, this.#expressions(conditions, scope));
  }

  #withQueries({ recursive, ctes }: Fields, outer: Scope): Scope {
    if (recursive === true) throw new StatementRefusal('WITH RECURSIVE is not allowed');
    const queries = new Map(outer.queries);
    for (const one of listOf(ctes)) {
      const query = fieldsOf(fieldsOf(one).CommonTableExpr);
      if (query.ctematerialized === 'CTEMaterializeNever')
        throw new StatementRefusal('NOT MATERIALIZED is not allowed');
      const select = fieldsOf(query.ctequery).SelectStmt;
      if (select === undefined) throw new StatementRefusal('A WITH clause may contain SELECT only (0A000)');
      queries.set(String(query.ctename), this.select(fieldsOf(select), { ...outer, queries }));
    }
    return { ...outer, queries };
  }

  #from(item: unknown, scope: Scope): Scope {
    const [kind, fields] = nodeOf(item);
    if (kind === 'JoinExpr') {
      const joined = this.#from(fields.rarg, this.#from(fields.larg, scope));
      this.#expressions({ quals: fields.quals }, joined);
      return withRow(joined, nameOf(fields.alias), 1);
    }
    if (++this.#tables > TABLES_MAX)
      throw new StatementRefusal(`A statement may read at most ${TABLES_MAX} tables`);
    if (kind === 'RangeVar') {
      const name = String(fields.relname);
      const schema = fields.schemaname === undefined ? undefined : String(fields.schemaname);
      if (!isReadable(schema, name) && (schema !== undefined || !scope.queries.has(name)))
        throw new StatementRefusal(
          `${schema === undefined ? '' : `${schema}.`}${name} is not allowed. Read the views of the schema analytics and the tables of contracts`,
        );
      this.#readsLogs ||= name === 'logs';
      this.#hasLongColumns ||= schema === 'contracts' || LONG_RELATIONS.test(name);
      const size = schema === undefined ? (scope.queries.get(name) ?? 1) : 1;
      return withRow(scope, nameOf(fields.alias) ?? name, size);
    }
    if (kind === 'RangeSubselect') {
      const size = this.select(fieldsOf(fieldsOf(fields.subquery).SelectStmt), scope);
      return withRow(scope, nameOf(fields.alias), size);
    }
    if (kind !== 'RangeFunction') throw notAllowed(kind);
    return {
      ...scope,
      columns: Math.max(scope.columns, this.#expressions({ functions: fields.functions }, scope)),
    };
  }

  #expressions(fields: Fields, scope: Scope): number {
    let largest = 1;
    for (const node of Object.values(fields).flat())
      if (isFields(node)) largest = Math.max(largest, this.#expression(node, scope));
    return largest;
  }

  #expression(node: unknown, scope: Scope): number {
    if (!isFields(node)) return 1;
    const [kind, fields] = nodeOf(node);
    switch (kind) {
      case 'SelectStmt':
        return this.select(fields, scope);
      case 'SubLink':
        if (fields.subLinkType === 'ARRAY_SUBLINK')
          throw new StatementRefusal('ARRAY(SELECT …) is not allowed. Return rows instead');
        return this.#expressions(fields, scope);
      case 'A_Const':
        this.#hasLongNumbers ||= isLongNumber(fields);
        this.#constantBytes = Math.max(this.#constantBytes, Buffer.byteLength(String(constantOf(node) ?? '')));
        return 1;
      case 'ColumnRef': {
        const names = listOf(fields.fields);
        const last = textOf(names.at(-1));
        // `row.max` may be the largest row.
        this.#hasGrowing ||= names.length > 1 && GROWING_AGGREGATES.has(last);
        this.#readsData ||= last === 'data';
        return columnSize(names, scope);
      }
      case 'A_Expr':
        return this.#operator(fields, scope);
      case 'FuncCall':
        return this.#function(fields, scope);
      case 'TypeCast':
        return this.#cast(fields, scope);
      case 'A_ArrayExpr':
      case 'RowExpr': {
        const parts = listOf(fields.elements ?? fields.args).map((part) => this.#expression(part, scope));
        // As text, each quote is escaped.
        return this.#count(2 * Math.max(1, sumOf(parts)));
      }
      case 'A_Indirection':
        if (listOf(fields.indirection).some((one) => nodeOf(one)[0] !== 'A_Indices'))
          throw new StatementRefusal('Members of a row are not allowed. Name the columns');
        return this.#expressions(fields, scope);
      default:
        return this.#expressions(fields, scope);
    }
  }

  #operator({ kind, name, lexpr, rexpr }: Fields, scope: Scope): number {
    const names = listOf(name).map(textOf);
    const operator = names.at(-1) ?? '';
    if (names.length > 1 || !OPERATORS.has(operator) || kind === 'AEXPR_SIMILAR')
      throw new StatementRefusal(`The operator ${operator} is not allowed`);
    const sizes = [lexpr, rexpr].map((side) => this.#expressions({ side: side }, scope));
    if (operator === '||') return this.#count(sumOf(sizes));
    if (SLOW_OPERATORS.has(operator)) this.#count(2, 0);
    if (operator === '*') this.#products++;
    this.#hasLongNumbers ||= operator === '^';
    const largest = Math.max(...sizes);
    return SELECTING_OPERATORS.has(operator) || kind === 'AEXPR_NULLIF' ? this.#count(largest) : 1;
  }

  #function(call: Fields, scope: Scope): number {
    const names = listOf(call.funcname).map(textOf);
    const name = names.at(-1) ?? '';
    if (names.length > 1 && !(names.length === 2 && /^(?:pg_catalog|analytics)$/.test(names[0] ?? '')))
      throw new StatementRefusal(`The function ${names.join('.')} is not allowed`);
    if (call.agg_distinct === true || call.agg_order !== undefined || call.agg_within_group === true)
      this.innerSorts++;
    const args = listOf(call.args);
    if (call.over === undefined) {
      this.#hasGrowing ||= GROWING_AGGREGATES.has(name);
      this.#hasNumeric ||= NUMERIC_AGGREGATES.has(name);
    }
    this.#hasLongNumbers ||= LENGTHENING_FUNCTIONS.has(name) || hasManyDigits(name, args);
    const { funcname: _name, args: _args, ...others } = call;
    const ofOthers = this.#expressions(others, scope);
    const isRowCount = name === 'count' && args.length === 1 && isStar(args[0]);
    const sizes = isRowCount ? [] : args.map((one) => this.#expression(one, scope));
    // Sorted values are results.
    const largest = Math.max(1, call.agg_within_group === true ? ofOthers : 1, ...sizes);
    if (SMALL_FUNCTIONS.has(name)) {
      this.#count(1, 0);
      return 1;
    }
    if (SELECTING_FUNCTIONS.has(name)) return this.#count(largest);
    if (/^[lr]pad$/.test(name)) this.#constantBytes = Math.max(this.#constantBytes, PADDING_MAX);
    // For a list of fractions, the result is a list.
    const isFraction = name === 'percentile_disc' && isNumber(args[0]);
    const size = isFraction ? largest : growth(name, args, sizes);
    if (size !== null) return this.#count(size);
    throw new StatementRefusal(
      `The function ${name} is not allowed, or not with such arguments. Functions that collect rows (string_agg, array_agg, jsonb_agg), repeat texts, use regular expressions or read the server are refused: return rows instead`,
    );
  }

  #cast({ arg, typeName }: Fields, scope: Scope): number {
    const type = textOf(listOf(fieldsOf(typeName).names).at(-1));
    if (!TYPES.has(type)) throw new StatementRefusal(`The type ${type} is not allowed in a cast`);
    const [kind, constant] = nodeOf(arg);
    if (type === 'numeric') this.#hasLongNumbers ||= kind !== 'A_Const' || isLongNumber(constant);
    if (kind === 'A_Const') return 1;
    const size = this.#expression(arg, scope);
    if (type === 'text' || type === 'varchar') return this.#count(2 * size);
    return this.#count(type === 'jsonb' ? JSONB_GROWTH * size : size);
  }

  #count(size: number, computed = size): number {
    this.#values += size;
    this.#computed += computed;
    if (this.#values > VALUES_MAX)
      throw new StatementRefusal(
        'The statement makes too many or too large values for each row. Use fewer columns, casts to text and ||',
      );
    return size;
  }
}

/** Each table, subquery and function in FROM adds to the planner's memory. */
const TABLES_MAX = 20;
const STAR_VALUES = 10;
const JSONB_GROWTH = 8;
/** Views whose columns can hold a megabyte. */
const LONG_RELATIONS = /^(?:logs$|contract_)/;
/** Texts of a megabyte. All of a row are in memory. */
const LONG_VALUES_MAX = 40;
/** Rows of results, and the next one. */
const ROWS_MAX = 201;
/** Hashes as text have 66. */
const COLUMN_BYTES = 256;
/** Half of what a statement may use: others of its parts hold the rest. */
const SORTED_BYTES_MAX = 32 * 1024 * 1024;
const PADDING_MAX = 1_000;

/** Size of a value that functions enlarge; null: no bound. */
function growth(name: string, args: readonly unknown[], sizes: readonly number[]): number | null {
  const largest = Math.max(1, ...sizes);
  const [, second, third] = args.map(constantOf);
  switch (name) {
    case 'concat':
      return sumOf(sizes);
    case 'concat_ws':
      return 2 * args.length * largest;
    case 'hex':
      return 2 * largest;
    case 'encode':
      return second === 'hex' || second === 'base64' ? 2 * largest : null;
    case 'lpad':
    case 'rpad':
      return typeof second === 'number' && second <= PADDING_MAX ? largest : null;
    case 'to_char':
      return typeof second === 'string' ? 1 : null;
    case 'substring':
      // A text as the second argument is a regular expression.
      return typeof second === 'number' ? largest : null;
    case 'replace':
      if (typeof second !== 'string' || typeof third !== 'string') return null;
      return Math.max(1, Math.ceil(third.length / Math.max(1, second.length))) * largest;
    default:
      return null;
  }
}

/** Digits of an amount and of a price, with room. */
const DIGITS_MAX = 100;
/** Factors of amounts in a statement, each of 78 digits. */
const PRODUCTS_MAX = 8;

function isLongNumber({ fval, sval }: Fields): boolean {
  const text = String(fieldsOf(fval).fval ?? fieldsOf(sval).sval ?? '');
  const exponent = /e[+-]?(\d+)$/i.exec(text)?.[1] ?? '0';
  return text.length > DIGITS_MAX || Number(exponent) > DIGITS_MAX;
}

function hasManyDigits(name: string, [, digits]: readonly unknown[]): boolean {
  if (digits === undefined || !/^(?:round|trunc|log)$/.test(name)) return false;
  const constant = constantOf(digits);
  return typeof constant !== 'number' || constant > DIGITS_MAX;
}

/** Their names, as a column of a row, call them with the row. */
const ROW_FUNCTIONS =
  /^(?:row_to_json|to_jsonb?|jsonb?_build_(?:array|object)|(?:array|json|jsonb)_agg|jsonb?_agg_strict|any_value|record_(?:out|send)|hash_record(?:_extended)?|num_(?:non)?nulls|pg_column_\w+|pg_collation_for|quote_(?:literal|nullable)|concat)$/;

function columnSize(fields: readonly unknown[], { columns, rows }: Scope): number {
  const names = fields.map(textOf);
  const last = names.at(-1) ?? '';
  if (isStar({ ColumnRef: { fields } }) || (names.length === 1 && rows.has(last)))
    throw new StatementRefusal(`A whole row is not allowed as a value (${last || '*'}). Name the columns`);
  if (names.length > 1 && ROW_FUNCTIONS.test(last)) throw new StatementRefusal(`${last} of a row is not allowed`);
  return columns;
}

function withRow(scope: Scope, name: string | undefined, size: number): Scope {
  const rows = name === undefined ? scope.rows : new Set([...scope.rows, name]);
  return { ...scope, rows, columns: Math.max(scope.columns, size) };
}

/** Members without a kind, such as halves of a UNION, have ''. */
function nodeOf(node: unknown): readonly [kind: string, fields: Fields] {
  const fields = fieldsOf(node);
  const [entry, ...others] = Object.entries(fields);
  if (entry === undefined || others.length > 0 || !/^[A-Z]/.test(entry[0])) return ['', fields];
  const [kind, members] = entry;
  if (!NODES.has(kind)) throw notAllowed(kind);
  return [kind, isFields(members) ? members : {}];
}

function notAllowed(kind: string): StatementRefusal {
  return new StatementRefusal(`This part of SQL is not allowed: ${kind}. Only SELECT with common expressions is`);
}

function isStar(node: unknown): boolean {
  const { ColumnRef } = fieldsOf(node);
  return isFields(ColumnRef) && listOf(ColumnRef.fields).some((one) => fieldsOf(one).A_Star !== undefined);
}

function isNumber(node: unknown): boolean {
  const { A_Const } = fieldsOf(node);
  return isFields(A_Const) && (A_Const.ival !== undefined || A_Const.fval !== undefined);
}

function constantOf(node: unknown): string | number | null {
  const { A_Const } = fieldsOf(node);
  if (!isFields(A_Const)) return null;
  const { sval, ival } = A_Const;
  if (isFields(sval)) return String(sval.sval ?? '');
  return isFields(ival) ? Number(ival.ival ?? 0) : null;
}

/** Of LIMIT or OFFSET. Without one, or with NULL, there are none. */
function rowsOf(node: unknown): number {
  if (node === undefined || fieldsOf(fieldsOf(node).A_Const).isnull === true) return 0;
  const rows = constantOf(node);
  return typeof rows === 'number' ? rows : Number.POSITIVE_INFINITY;
}

function textOf(node: unknown): string {
  const { String: text } = fieldsOf(node);
  return isFields(text) ? String(text.sval ?? '') : '';
}

function nameOf(alias: unknown): string | undefined {
  return isFields(alias) ? String(alias.aliasname) : undefined;
}

function sumOf(sizes: readonly number[]): number {
  return sizes.reduce((sum, size) => sum + size, 0);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {};
}
