/** SQL with bound values, written as template literals. */
import type { Database } from './database.ts';
import type { Statement } from './statement.ts';

/** A value that is sent separately from the text of a statement. */
export type SqlValue = string | number | bigint | boolean | null | Buffer | readonly (string | number | Buffer)[];

/**
 * A fragment of SQL with its bound values. Only {@link sql} and {@link rawSql} create one: a plain string becomes a
 * value.
 */
export class Sql {
  /** One more than `values`: a placeholder goes between two texts. */
  readonly texts: readonly string[];
  readonly values: readonly SqlValue[];

  constructor(texts: readonly string[], values: readonly SqlValue[]) {
    this.texts = texts;
    this.values = values;
  }
}

/**
 * Returns SQL from a template: fragments become part of its text, everything else a bound value.
 * @example sql`DELETE FROM ${table} WHERE chain_id = ${chain.id}`
 */
export function sql(strings: TemplateStringsArray, ...parts: readonly (Sql | SqlValue)[]): Sql {
  const texts: string[] = [];
  const values: SqlValue[] = [];
  let text = strings[0] ?? '';
  for (const [index, part] of parts.entries()) {
    const after = strings[index + 1] ?? '';
    if (!(part instanceof Sql)) {
      texts.push(text);
      values.push(part);
      text = after;
      continue;
    }
    const [first = '', ...others] = part.texts;
    text += first;
    for (const [place, value] of part.values.entries()) {
      texts.push(text);
      values.push(value);
      text = others[place] ?? '';
    }
    text += after;
  }
  return new Sql([...texts, text], values);
}

/** Returns text of the program itself, such as a name, as SQL. Never pass external input. */
export function rawSql(text: string): Sql {
  return new Sql([text], []);
}

/** @param separator @default ', ' */
export function joinSql(parts: readonly Sql[], separator = ', '): Sql {
  const between = rawSql(separator);
  return parts.reduce((joined, part, index) => (index === 0 ? part : sql`${joined}${between}${part}`), rawSql(''));
}

/** Returns the statement with `$1`, `$2` … for its values. */
export function statementOf({ texts, values }: Sql): Statement {
  return { text: texts.map((text, index) => (index === 0 ? text : `$${index}${text}`)).join(''), values };
}

/** Runs statements in order and drops their rows. */
export async function runStatements(database: Pick<Database, 'query'>, statements: readonly Sql[]): Promise<void> {
  for (const statement of statements) {
    const { text, values } = statementOf(statement);
    await (values.length === 0 ? database.query(text) : database.query(text, values));
  }
}
