import type { SourceFile } from '../check/source-files.ts';
import { INVARIANTS } from './invariants.ts';

/** `Invariant: SYNC-WHOLE-BLOCK` in a comment, above the code that enforces it or the test that checks it. */
const MARK = /^\s*\/\/ Invariant: ([A-Z0-9-]+)$/gm;

/**
 * Returns `docs/internals/invariants.md`: each invariant with the files that enforce and check it.
 * @throws Error if a mark names no invariant, or an invariant has no code or no test
 */
export function renderInvariants(
  files: readonly SourceFile[],
  invariants: Readonly<Record<string, string>> = INVARIANTS,
): string {
  const marks = files.flatMap(({ path, text }) => [...text.matchAll(MARK)].map(([, id = '']) => ({ id, path })));
  const isTest = ({ path }: { readonly path: string }) => /\.test\.ts$/.test(path) || path.startsWith('tests/');
  const rows = Object.entries(invariants).map(([id, statement]) => {
    const ofThis = marks.filter((mark) => mark.id === id);
    return { id, statement, code: ofThis.filter((mark) => !isTest(mark)), tests: ofThis.filter(isTest) };
  });
  const problems = [
    ...marks
      .filter(({ id }) => !Object.hasOwn(invariants, id))
      .map(({ id, path }) => `${path} names ${id}: no such invariant`),
    ...rows.filter(({ code }) => code.length === 0).map(({ id }) => `${id} is enforced nowhere`),
    ...rows.filter(({ tests }) => tests.length === 0).map(({ id }) => `${id} has no test`),
  ];
  if (problems.length > 0) throw new Error(problems.join('\n'));
  const areas = [...Map.groupBy(rows, ({ id }) => id.split('-')[0] ?? '')];
  return `# Invariants

This page lists what always holds, with the code that enforces it and the tests that check it. The ids stand in both as \`// Invariant: <id>\`.
\`npm run generate\` writes this page, and fails if an invariant has no code or no test. The statements are in \`scripts/generated/invariants.ts\`.
${areas.map(([area, ofArea]) => `\n## ${TITLES[area] ?? area}\n\n${ofArea.map(renderInvariant).join('\n')}`).join('')}`;
}

const TITLES: Readonly<Record<string, string>> = {
  SYNC: 'Sync',
  PROOF: 'Proofs',
  PAGE: 'Pages',
  BALANCE: 'Balances',
  NFT: 'NFTs',
  PRICE: 'Prices',
  STREAM: 'Streams',
  GATEWAY: 'JSON-RPC gateway',
  EGRESS: 'Untrusted URLs',
  WORK: 'Background work',
  DB: 'Database',
  HTTP: 'Requests',
  LAKE: 'Exports',
  APTOS: 'Aptos',
};

function renderInvariant(row: {
  readonly id: string;
  readonly statement: string;
  readonly code: readonly { readonly path: string }[];
  readonly tests: readonly { readonly path: string }[];
}): string {
  const links = (marks: readonly { readonly path: string }[]) =>
    [...new Set(marks.map(({ path }) => path))].map((path) => `\`${path}\``).join(', ');
  return `**${row.id}**: ${row.statement}\n- Enforced in ${links(row.code)}\n- Checked by ${links(row.tests)}\n`;
}
