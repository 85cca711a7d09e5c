import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { type DeclaredRows, readDeclaredRows } from './declared-rows.ts';

const SOURCE = `
interface Database {
  query<Row extends object = Record<string, unknown>>(text: string): Promise<Row[]>;
}
type Hash = string & { readonly brand: 'hash' };
interface Base { readonly id: number }
declare const database: Database;
export const extended = () => database.query<Base & { hash: Hash | null; tags?: readonly string[] }>('');
export const picked = () => database.query<Omit<{ at: Date; kind: 'a' | 'b'; raw: Uint8Array; left: 1 }, 'left'>>('');
export const inferred = (): Promise<Base[]> => database.query('');
export const nothing = () => database.query('');
async function pageOf<Title, Page extends object>(title: Title): Promise<{ title: Title; page: Page | undefined }> {
  const [page] = await database.query<Page>('');
  return { title, page };
}
export const passed = async () => await pageOf<string, { nested: { deep: number }; any: unknown }>('');
`;

let declared: readonly DeclaredRows[];

beforeAll(async () => {
  const root = await mkdtemp(join(tmpdir(), 'chainstead-declared-rows-'));
  await mkdir(join(root, 'packages'));
  const compilerOptions = { strict: true, noEmit: true, target: 'ES2024', module: 'NodeNext', types: [] };
  await writeFile(join(root, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['packages/*.ts'] }));
  await writeFile(join(root, 'packages/rows.ts'), SOURCE);
  declared = readDeclaredRows(root, ['packages/rows.ts']);
});

/** Columns as `name: kinds`, by the line of the call. */
function columnsAt(line: string): string[] | undefined {
  const number = SOURCE.split('\n').findIndex((text) => text.startsWith(line)) + 1;
  const rows = declared.find(({ place }) => place.startsWith(`packages/rows.ts:${number}:`));
  return rows?.columns.map(
    ({ name, kinds, isOptional }) => `${name}${isOptional ? '?' : ''}: ${kinds.toSorted().join(' | ')}`,
  );
}

test('the columns of a row type are read through names, intersections and utility types', () => {
  expect(columnsAt('export const extended')).toEqual([
    'id: number',
    'hash: null | string',
    'tags?: null | string[]',
  ]);
  expect(columnsAt('export const picked')).toEqual(['at: Date', 'kind: string', 'raw: Buffer']);
});

test('a row type that is inferred of what the result is returned as counts, too', () => {
  expect(columnsAt('export const inferred')).toEqual(['id: number']);
  expect(columnsAt('export const nothing')).toEqual([]);
});

test('a function that passes its type argument on is looked up where it is called, and at its await', () => {
  expect(columnsAt('  const [page]')).toBeUndefined();
  expect(columnsAt('export const passed')).toEqual(['nested: object', 'any: any']);
  const passed = declared.find(({ columns }) => columns.some(({ name }) => name === 'nested'));
  expect(passed).toMatchObject({ place: 'packages/rows.ts:16:41', awaitPlace: 'packages/rows.ts:16:35' });
});
