import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { mergeRanges } from '@chainstead/core';
import { z } from 'zod';
import { ExportManifestError, errorCode, onFiles } from '../errors.ts';
import type { ExportTable } from '../tables/export-table.ts';
import { writeDurably } from './write-durably.ts';

const block = z.strictObject({ number: z.int(), hash: z.string() }).nullable();
const range = z.strictObject({ from: z.int(), to: z.int() });

const fileSchema = z.strictObject({
  from: z.int(),
  to: z.int(),
  rows: z.int(),
  /** Name in the folder of the manifest; null: there are no rows. */
  path: z.string().nullable(),
  bytes: z.int(),
  sha256: z.string().nullable(),
  proof: z.array(z.strictObject({ from: z.int(), to: z.int(), level: z.string(), reason: z.string().nullable() })),
  first_block: block,
  last_block: block,
  revision: z.string(),
});

const manifestSchema = z.strictObject({
  format: z.literal('chainstead-parquet-1'),
  table: z.string(),
  dataset: z.string(),
  chain: z.string(),
  chain_id: z.int(),
  blocks_per_file: z.int(),
  columns: z.array(
    z.strictObject({ name: z.string(), postgres: z.string(), parquet: z.string(), nullable: z.boolean() }),
  ),
  rows: z.int(),
  ranges: z.array(range),
  files: z.array(fileSchema),
});

/** A range of blocks of the export. */
export type ManifestFile = Readonly<z.infer<typeof fileSchema>>;
type Manifest = z.infer<typeof manifestSchema>;

/** Identity of an export: a folder has one for each table and chain. */
export interface ExportIdentity {
  readonly table: ExportTable;
  readonly chain: string;
  readonly chainId: number;
  readonly blocksPerFile: number;
}

export interface ManifestStore {
  readonly folder: string;
  readonly files: readonly ManifestFile[];
  /** Stores the list of files. Nothing is written if it is equal. */
  save(files: readonly ManifestFile[]): Promise<void>;
}

const NAME = 'manifest.json';
/** Ending of files that are being written. */
export const PART = '.part';

/** Returns the folder of a table and chain below the output folder: `table=erc20_transfers/chain=1`. */
export function exportFolder(out: string, { table, chainId }: ExportIdentity): string {
  return join(out, `table=${table.name}`, `chain=${chainId}`);
}

/**
 * Opens or creates an export, and removes files that a killed one left.
 * @throws ExportManifestError for another export; ExportFolderError
 */
export async function openManifest(out: string, identity: ExportIdentity): Promise<ManifestStore> {
  const folder = exportFolder(out, identity);
  const path = join(folder, NAME);
  await onFiles(folder, () => mkdir(folder, { recursive: true }));
  const stored = await readManifest(path);
  if (stored !== null) requireSame(path, stored, identity);
  const opened = { folder, files: stored?.files ?? [] };
  let text = stored === null ? '' : textOf(identity, opened.files);
  await removeLeftovers(folder, opened.files);
  return {
    ...opened,
    async save(files) {
      const next = textOf(identity, files);
      if (next === text) return;
      await onFiles(path, async () => {
        await writeDurably(`${path}${PART}`, next);
        await rename(`${path}${PART}`, path);
      });
      text = next;
    },
  };
}

/** Returns whether the file of the range is there, with its size. */
export async function isPresent(folder: string, { path, bytes }: ManifestFile): Promise<boolean> {
  if (path === null) return true;
  try {
    return (await stat(join(folder, path))).size === bytes;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false;
    throw error;
  }
}

async function readManifest(path: string): Promise<Manifest | null> {
  const text = await onFiles(path, () =>
    readFile(path, 'utf8').catch((error: unknown) => {
      if (errorCode(error) === 'ENOENT') return null;
      throw error;
    }),
  );
  if (text === null) return null;
  try {
    return manifestSchema.parse(JSON.parse(text));
  } catch (error) {
    if (error instanceof z.ZodError || error instanceof SyntaxError)
      throw new ExportManifestError(path, 'is no manifest of this version');
    throw error;
  }
}

function requireSame(path: string, stored: Manifest, wanted: ExportIdentity): void {
  const { table, chain_id: chainId, blocks_per_file: blocksPerFile } = stored;
  if (table !== wanted.table.name || chainId !== wanted.chainId)
    throw new ExportManifestError(path, `is of table ${table} of chain ${chainId}`);
  if (blocksPerFile !== wanted.blocksPerFile)
    throw new ExportManifestError(path, `has ${blocksPerFile} blocks per file, and not ${wanted.blocksPerFile}`);
  if (JSON.stringify(stored.columns) !== JSON.stringify(columnsOf(wanted.table)))
    throw new ExportManifestError(path, 'has other columns than the table has now');
}

/** Only files with names of this export are removed. */
async function removeLeftovers(folder: string, files: readonly ManifestFile[]): Promise<void> {
  const known = new Set(files.map(({ path }) => path));
  await onFiles(folder, async () => {
    for (const name of await readdir(folder))
      if (name.endsWith(PART) || (/^\d+-\d+\.parquet$/.test(name) && !known.has(name))) await rm(join(folder, name));
  });
}

function textOf({ table, chain, chainId, blocksPerFile }: ExportIdentity, files: readonly ManifestFile[]): string {
  const manifest: Manifest = {
    format: 'chainstead-parquet-1',
    table: table.name,
    dataset: table.dataset,
    chain,
    chain_id: chainId,
    blocks_per_file: blocksPerFile,
    columns: columnsOf(table),
    rows: files.reduce((sum, { rows }) => sum + rows, 0),
    ranges: mergeRanges(files).map(({ from, to }) => ({ from, to })),
    files: files.toSorted((a, b) => a.from - b.from),
  };
  return `${JSON.stringify(manifest, null, 1)}\n`;
}

function columnsOf({ columns }: ExportTable): Manifest['columns'] {
  return columns.map(({ name, postgres, kind, isNullable }) => ({
    name,
    postgres,
    parquet: kind,
    nullable: isNullable,
  }));
}
