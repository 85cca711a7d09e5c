import { SqlRefusalError } from './sql-refusal.ts';
import { measureStatement, type StatementFacts, StatementRefusal } from './statement-size.ts';

export const SQL_LENGTH_MAX = 10_000;
const BRACKETS_MAX = 100;

const ADVICE =
  'Only one SELECT over views of the schema analytics is allowed. The tool sql_columns lists their columns.';

export interface CheckedStatement extends StatementFacts {
  readonly statement: string;
}

/** Before Postgres: planning alone computes `repeat('x', 1000000000)`. @throws SqlRefusalError */
export async function checkStatement(sql: string): Promise<CheckedStatement> {
  const statement = sql.replace(/[;\s]+$/, '');
  if (statement.trim() === '') throw refused('sql is empty', 'Pass one SELECT statement.');
  if (statement.length > SQL_LENGTH_MAX)
    throw refused(`sql has more than ${SQL_LENGTH_MAX} characters`, 'Shorten the statement.');
  if (statement.includes('\0')) throw refused('sql contains a NUL character', 'Remove it.');
  if (depthOf(statement) > BRACKETS_MAX) throw nestedTooDeep();
  const { parse } = await import('libpg-query');
  try {
    return { statement, ...measureStatement(await parse(statement)) };
  } catch (error) {
    if (error instanceof StatementRefusal) throw refused(error.message, ADVICE);
    if (error instanceof RangeError) throw nestedTooDeep();
    if (error instanceof Error && error.name === 'SqlError')
      throw refused(`The statement is not valid (42601): ${error.message.slice(0, 500)}`, ADVICE);
    throw error;
  }
}

function refused(message: string, advice: string): SqlRefusalError {
  return new SqlRefusalError('SQL_REFUSED', message, advice);
}

function nestedTooDeep(): SqlRefusalError {
  return refused('The statement is nested too deeply', 'Use fewer brackets and operators.');
}

function depthOf(statement: string): number {
  let [depth, deepest] = [0, 0];
  for (const character of statement) {
    if (character === '(' || character === '[') deepest = Math.max(deepest, ++depth);
    else if (character === ')' || character === ']') depth--;
  }
  return deepest;
}
