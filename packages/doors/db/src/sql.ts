export type SqlValue = string | number | bigint | boolean | null | Date | Uint8Array | readonly SqlValue[];

/** Only {@link sql} and {@link rawSql} create one: a plain string becomes a value. */
export class Sql {
  /** One more than `parts`. */
  readonly texts: readonly string[];
  readonly parts: readonly (Sql | SqlValue)[];
  #constant: string | undefined;

  constructor(texts: readonly string[], parts: readonly (Sql | SqlValue)[]) {
    this.texts = texts;
    this.parts = parts;
  }

  /** @param written fragments of the statement: each keeps its placeholders */
  writeTo(values: SqlValue[], written: Map<Sql, string>): string {
    const before = this.#constant ?? written.get(this);
    if (before !== undefined) return before;
    const valuesBefore = values.length;
    let [text = ''] = this.texts;
    for (let index = 0; index < this.parts.length; index++) {
      const part = this.parts[index];
      if (part instanceof Sql) text += part.writeTo(values, written);
      else text += `$${values.push(part ?? null)}`;
      text += this.texts[index + 1];
    }
    if (values.length > valuesBefore) written.set(this, text);
    // All values may be there already.
    else if (!this.#hasValues()) this.#constant = text;
    return text;
  }

  #hasValues(): boolean {
    return this.parts.some((part) => !(part instanceof Sql) || part.#hasValues());
  }
}

/**
 * Fragments become text, all else bound values. A repeated fragment keeps its placeholders.
 * @example sql`DELETE FROM ${table} WHERE chain_id = ${chain.id}`
 */
export function sql(strings: TemplateStringsArray, ...parts: readonly (Sql | SqlValue)[]): Sql {
  return new Sql(strings, parts);
}

/** The program's own text. Never pass external input. */
export function rawSql(text: string | number): Sql {
  return new Sql([String(text)], []);
}

/** A column's or table's name. Never pass external input. */
export function asSql(name: string | Sql): Sql {
  return name instanceof Sql ? name : rawSql(name);
}

/** @param separator @default ', ' */
export function joinSql(parts: readonly Sql[], separator = ', '): Sql {
  return parts.length === 0 ? rawSql('') : new Sql(['', ...parts.slice(1).map(() => separator), ''], parts);
}

export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** With `$1`, `$2` … */
export function statementOf(statement: Sql): Statement {
  const values: SqlValue[] = [];
  return { text: statement.writeTo(values, new Map()), values };
}

export async function runStatements(
  database: { query(statement: Sql): Promise<unknown> },
  statements: readonly Sql[],
): Promise<void> {
  for (const statement of statements) await database.query(statement);
}
