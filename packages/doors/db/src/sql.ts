import type { Address } from '@chainstead/core';

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

export function addressBytes(address: Address): Buffer {
  return hexBytes(address);
}

/** With or without `0x`, for `bytea`. */
export function hexBytes(hex: string): Buffer {
  return Buffer.from(hex.startsWith('0x') ? hex.slice(2) : hex, 'hex');
}

/** The planner expects this form for nearly every row (0.995), whatever the statistics. */
export function expectedTrue(condition: Sql): Sql {
  return sql`(CASE WHEN ${condition} THEN true END) IS NOT NULL`;
}

export function where(conditions: readonly Sql[]): Sql {
  return conditions.length === 0 ? rawSql('') : sql`WHERE ${joinSql(conditions, ' AND ')}`;
}

export function hexText(column: string | Sql): Sql {
  return sql`'0x' || encode(${asSql(column)}, 'hex')`;
}

/** Seconds from now; null for null. On Citus, an UPDATE can't combine `now()` with columns. */
export function fromNow(seconds: Sql): Sql {
  return sql`to_timestamp(extract(epoch FROM now())::float8 + ${seconds})`;
}

export type KeysetOrder = 'ASC' | 'DESC';

/** Strictly after a key. `columns` are not nullable; `values`: one per column. */
export function rowsAfter(order: KeysetOrder, columns: readonly (string | Sql)[], values: readonly Sql[]): Sql {
  // Invariant: PAGE-KEYSET
  return sql`(${joinSql(columns.map(asSql))}) ${rawSql(order === 'DESC' ? '<' : '>')} (${joinSql(values)})`;
}

/** The second condition prunes partitions by the first column. */
export function rowsAfterInPartitions(
  order: KeysetOrder,
  [column, ...columns]: readonly [string | Sql, ...(string | Sql)[]],
  [value, ...values]: readonly [Sql, ...Sql[]],
): readonly [after: Sql, notBefore: Sql] {
  return [
    rowsAfter(order, [column, ...columns], [value, ...values]),
    sql`${asSql(column)} ${rawSql(order === 'DESC' ? '<=' : '>=')} ${value}`,
  ];
}
