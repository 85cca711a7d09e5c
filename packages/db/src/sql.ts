/** SQL with bound values, written as template literals. */

/** A value that is sent separately from the text of a statement. */
export type SqlValue = string | number | bigint | boolean | null | Date | Uint8Array | readonly SqlValue[];

/** A fragment of SQL with its values. Only {@link sql} and {@link rawSql} create one: a plain string becomes a value. */
export class Sql {
  /** One more than `parts`: a fragment or a placeholder goes between two texts. */
  readonly texts: readonly string[];
  readonly parts: readonly (Sql | SqlValue)[];
  /** The text, once a statement contained it without any value. */
  #constant: string | undefined;

  constructor(texts: readonly string[], parts: readonly (Sql | SqlValue)[]) {
    this.texts = texts;
    this.parts = parts;
  }

  /**
   * Returns the text with placeholders and adds the values.
   * @param written texts of fragments that the statement contains already: each keeps its placeholders
   */
  writeTo(values: SqlValue[], written: Map<Sql, string>): string {
    const known = this.#constant ?? written.get(this);
    if (known !== undefined) return known;
    const before = values.length;
    let [text = ''] = this.texts;
    for (let index = 0; index < this.parts.length; index++) {
      const part = this.parts[index];
      if (part instanceof Sql) text += part.writeTo(values, written);
      else text += `$${values.push(part ?? null)}`;
      text += this.texts[index + 1];
    }
    if (values.length > before) written.set(this, text);
    else if (!this.#hasValues()) this.#constant = text;
    return text;
  }

  /** All of them may be in the statement already. */
  #hasValues(): boolean {
    return this.parts.some((part) => !(part instanceof Sql) || part.#hasValues());
  }
}

/**
 * Returns SQL from a template: fragments become part of its text, everything else a bound value.
 * A fragment that a statement contains twice has the same placeholders in both places.
 * @example sql`DELETE FROM ${table} WHERE chain_id = ${chain.id}`
 */
export function sql(strings: TemplateStringsArray, ...parts: readonly (Sql | SqlValue)[]): Sql {
  return new Sql(strings, parts);
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
  return parts.length === 0 ? rawSql('') : new Sql(['', ...parts.slice(1).map(() => separator), ''], parts);
}

/** A complete statement as drivers take it. */
export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** Returns the statement with `$1`, `$2` … for its values. */
export function statementOf(statement: Sql): Statement {
  const values: SqlValue[] = [];
  return { text: statement.writeTo(values, new Map()), values };
}

/** Runs statements in order and drops their rows. */
export async function runStatements(
  database: { query(statement: Sql): Promise<unknown> },
  statements: readonly Sql[],
): Promise<void> {
  for (const statement of statements) await database.query(statement);
}
