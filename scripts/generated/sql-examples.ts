import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { REPOSITORY_ROOT } from '../check/source-files.ts';

const GROUP = /^\*\*(.+)\*\*$/;
const LINK = /^- \[(.+)\]\(#(\d+)-/;
const QUERY = /^### (\d+)\. .*\n[^#]*?```sql\n([^`]*)```/gm;

/** The queries of docs/api/sql-examples.md for the console's page of SQL, in the groups of its contents. */
export function renderSqlExamples(): string {
  const page = readFileSync(join(REPOSITORY_ROOT, 'docs/api/sql-examples.md'), 'utf8');
  const queries = new Map([...page.matchAll(QUERY)].map(([, number, sql]) => [number, sql?.trim()]));
  let group = '';
  const examples = page.split('\n').flatMap((line) => {
    group = GROUP.exec(line)?.[1] ?? group;
    const [, title, number] = LINK.exec(line) ?? [];
    return title === undefined ? [] : [{ group, title, sql: queries.get(number) }];
  });
  return `${JSON.stringify(examples, null, 2)}\n`;
}
