/** What statements of derived states ask of the rows that they count, once for each of what is wanted. */

/** A subquery over rows that the state counts, asked once for each of what is wanted. */
export interface LookUp<By extends string> {
  /** Unique among those of all states. */
  readonly name: string;
  /** What it is asked by: names that `wanted` has as columns, with their types. */
  readonly by: Readonly<Record<By, string>>;
  /** A query of `by`, over changed rows, subjects and what other look-ups found. */
  readonly wanted: string;
  /** Its columns with their types. */
  readonly found: Readonly<Record<string, string>>;
  /** Where the rows of an answer lie on a cluster; absent where they may lie on any node. */
  readonly place?: LookUpPlace<NoInfer<By>>;
  /** The subquery. @param at SQL for each of `by` @param isThere of the column that a table is distributed by, the condition that its row lies at `place` */
  find(at: Readonly<Record<By, string>>, isThere: (column: string) => string): string;
  /**
   * The same for all at once, where rows lie on any node: a query of `by` and what is found, which joins the relation `asked` of `by` and may lack
   * answers that are empty.
   */
  findAll?(asked: string): string;
}

/** All rows of an answer lie in one shard. */
export interface LookUpPlace<By extends string> {
  /** One of the tables that are asked; the others lie with it. */
  readonly table: string;
  /** Of the column that it is distributed by. */
  readonly type: 'bigint' | 'bytea';
  /** SQL for what that column has in rows of the answer. */
  key(at: Readonly<Record<By, string>>): string;
}

/** A look-up whose names are told by `by`. */
export function defineLookUp<By extends string>(lookUp: LookUp<By>): LookUp<By> {
  return lookUp;
}

/** A relation's columns of the same names, to ask by. */
export function columnsOf<By extends string>(relation: string, { by }: Pick<LookUp<By>, 'by'>): Record<By, string> {
  const names = Object.keys(by) as By[];
  return Object.fromEntries(names.map((name) => [name, `${relation}.${name}`])) as Record<By, string>;
}

/** The subquery where rows are read wherever they lie. */
export function findAt<By extends string>(
  { find, place }: Pick<LookUp<By>, 'find' | 'place'>,
  at: Readonly<Record<By, string>>,
): string {
  return find(at, (column) => (place === undefined ? 'true' : `${column} = ${place.key(at)}`));
}
