/** SQL with bound values, written as template literals. */

/** A value that is sent separately from the text of a statement. */
export type SqlValue = string | number | bigint | boolean | null | Date | Uint8Array | readonly SqlValue[];

/** A fragment of SQL with its bound values. Only {@link sql} and {@link rawSql} create one: a plain string becomes a value. */
export class Sql {
  /** One more than `bound`: a placeholder goes between two texts. */
  readonly texts: readonly string[];
  readonly bound: readonly BoundValue[];

  constructor(texts: readonly string[], bound: readonly BoundValue[]) {
    this.texts = texts;
    this.bound = bound;
  }
}

/** A value of one place of a template. A fragment that a statement contains twice has one placeholder in both places. */
type BoundValue = Readonly<{ value: SqlValue }>;

/**
 * Returns SQL from a template: fragments become part of its text, everything else a bound value.
 * @example sql`DELETE FROM ${table} WHERE chain_id = ${chain.id}`
 */
export function sql(strings: TemplateStringsArray, ...parts: readonly (Sql | SqlValue)[]): Sql {
  const texts: string[] = [];
  const bound: BoundValue[] = [];
  let text = strings[0] ?? '';
  for (const [index, part] of parts.entries()) {
    const after = strings[index + 1] ?? '';
    if (!(part instanceof Sql)) {
      texts.push(text);
      bound.push({ value: part });
      text = after;
      continue;
    }
    const [first = '', ...others] = part.texts;
    text += first;
    for (const [inner, value] of part.bound.entries()) {
      texts.push(text);
      bound.push(value);
      text = others[inner] ?? '';
    }
    text += after;
  }
  return new Sql([...texts, text], bound);
}

/** Returns text of the program itself, such as a name or a constant number, as SQL. Never pass external input. */
export function rawSql(text: string | number): Sql {
  return new Sql([String(text)], []);
}

/** Returns the name of a column or table as SQL. Never pass external input. */
export function asSql(name: string | Sql): Sql {
  return name instanceof Sql ? name : rawSql(name);
}

/** @param separator @default ', ' */
export function joinSql(parts: readonly Sql[], separator = ', '): Sql {
  const between = rawSql(separator);
  return parts.reduce((joined, part, index) => (index === 0 ? part : sql`${joined}${between}${part}`), rawSql(''));
}

/** A complete statement as drivers take it. */
export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** Returns the statement with `$1`, `$2` … for its values. */
export function statementOf({ texts, bound }: Sql): Statement {
  const numbers = new Map<BoundValue, number>();
  let [text = ''] = texts;
  for (const [index, value] of bound.entries()) {
    const number = numbers.get(value) ?? numbers.size + 1;
    numbers.set(value, number);
    text += `$${number}${texts[index + 1]}`;
  }
  return { text, values: [...numbers.keys()].map(({ value }) => value) };
}

/** Runs statements in order and drops their rows. */
export async function runStatements(
  database: { query(statement: Sql): Promise<unknown> },
  statements: readonly Sql[],
): Promise<void> {
  for (const statement of statements) await database.query(statement);
}
