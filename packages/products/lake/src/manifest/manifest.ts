import { constants, type Stats } from 'node:fs';
import { lstat, mkdir, open, readdir, readFile, realpath, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type BlockRange, mergeRanges } from '@chainstead/core';
import { z } from 'zod';
import { ExportLinkError, ExportManifestError, errorCode, onFiles } from '../errors.ts';
import type { ExportTable } from '../tables/export-table.ts';

const count = z.int().min(0);
const block = z.strictObject({ number: count, hash: z.string() }).nullable();
const range = z.strictObject({ from: count, to: count });

// Untrusted: files that a manifest lists are removed once they are replaced.
const fileSchema = z
  .strictObject({
    from: count,
    to: count,
    rows: count,
    path: z.string().nullable(),
    bytes: count,
    sha256: z.string().nullable(),
    proof: z.array(z.strictObject({ from: count, to: count, level: z.string(), reason: z.string().nullable() })),
    first_block: block,
    last_block: block,
    revision: z.string(),
  })
  .refine((file) => file.from <= file.to && (file.path === null || file.path === fileName(file)));

const manifestSchema = z.strictObject({
  format: z.literal('chainstead-parquet-1'),
  table: z.string(),
  dataset: z.string(),
  chain: z.string(),
  chain_id: count,
  folder: z.string(),
  blocks_per_file: z.int().min(1),
  columns: z.array(
    z.strictObject({ name: z.string(), postgres: z.string(), parquet: z.string(), nullable: z.boolean() }),
  ),
  rows: count,
  ranges: z.array(range),
  files: z.array(fileSchema),
});

export type ManifestFile = Readonly<z.infer<typeof fileSchema>>;
type Manifest = z.infer<typeof manifestSchema>;

export interface ExportIdentity {
  readonly table: ExportTable;
  readonly chain: string;
  readonly chainId: number;
  readonly blocksPerFile: number;
}

/** Real paths. Readers take each file in a folder for data, so the state is apart. */
export interface ExportFolders {
  /** `table=erc20_transfers/chain=1` below the output folder. */
  readonly data: string;
  /** Manifest and unfinished files, below `_export`, which readers skip. */
  readonly state: string;
}

export interface ManifestStore {
  readonly folders: ExportFolders;
  readonly files: readonly ManifestFile[];
  save(files: readonly ManifestFile[]): Promise<void>;
}

const NAME = 'manifest.json';
export const PART = '.part';

const NAME_DIGITS = 12;
const FILE_NAME = /^\d{12,}-\d{12,}\.parquet$/;

/** `000000000000-000000009999.parquet`. */
export function fileName({ from, to }: BlockRange): string {
  const [first, last] = [from, to].map((block) => String(block).padStart(NAME_DIGITS, '0'));
  return `${first}-${last}.parquet`;
}

const STATE_FOLDER = '_export';

/** Only the output folder itself may be a link. @throws ExportFolderError, ExportLinkError */
export async function openFolders(out: string, identity: ExportIdentity): Promise<ExportFolders> {
  return onFiles(out, async () => {
    await mkdir(out, { recursive: true });
    const root = await realpath(out);
    const parts = partsOf(identity);
    return { data: await openBelow(root, parts), state: await openBelow(root, [STATE_FOLDER, ...parts]) };
  });
}

function partsOf({ table, chainId }: ExportIdentity): readonly string[] {
  return [`table=${table.name}`, `chain=${chainId}`];
}

async function openBelow(root: string, parts: readonly string[]): Promise<string> {
  let folder = root;
  for (const part of parts) {
    folder = join(folder, part);
    const stats = await lstatOf(folder);
    if (stats === null) await mkdir(folder);
    else if (!stats.isDirectory()) throw new ExportLinkError(folder);
  }
  return folder;
}

/** Removes files that a killed export left. @throws ExportManifestError, ExportFolderError */
export async function openManifest(folders: ExportFolders, identity: ExportIdentity): Promise<ManifestStore> {
  const path = join(folders.state, NAME);
  const stored = await readManifest(path);
  if (stored !== null) requireSame(path, stored, identity);
  const opened = { folders, files: stored?.files ?? [] };
  let text = stored === null ? '' : textOf(identity, opened.files);
  await removeLeftovers(folders, opened.files);
  return {
    ...opened,
    async save(files) {
      const next = textOf(identity, files);
      if (next === text) return;
      await onFiles(path, async () => {
        await writeDurably(`${path}${PART}`, next);
        // Invariant: LAKE-WHOLE-FILES
        await rename(`${path}${PART}`, path);
      });
      text = next;
    },
  };
}

/** False for a link or another size. `folder` of the data files. */
export async function isPresent(folder: string, { path, bytes }: ManifestFile): Promise<boolean> {
  if (path === null) return true;
  const stats = await lstatOf(join(folder, path));
  return stats?.isFile() === true && stats.size === bytes;
}

async function lstatOf(path: string): Promise<Stats | null> {
  try {
    return await lstat(path);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

async function readManifest(path: string): Promise<Manifest | null> {
  const text = await onFiles(path, () =>
    readFile(path, { encoding: 'utf8', flag: constants.O_RDONLY | constants.O_NOFOLLOW }).catch(
      (error: unknown) => {
        if (errorCode(error) === 'ENOENT') return null;
        throw error;
      },
    ),
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

async function removeLeftovers({ data, state }: ExportFolders, files: readonly ManifestFile[]): Promise<void> {
  const known = new Set(files.map(({ path }) => path));
  await removeFrom(data, (name) => FILE_NAME.test(name) && !known.has(name));
  await removeFrom(state, (name) => {
    const whole = name.endsWith(PART) ? name.slice(0, -PART.length) : '';
    return whole === NAME || FILE_NAME.test(whole);
  });
}

async function removeFrom(folder: string, isLeftover: (name: string) => boolean): Promise<void> {
  await onFiles(folder, async () => {
    for (const name of await readdir(folder)) if (isLeftover(name)) await rm(join(folder, name));
  });
}

function textOf(identity: ExportIdentity, files: readonly ManifestFile[]): string {
  const { table, chain, chainId, blocksPerFile } = identity;
  const manifest: Manifest = {
    format: 'chainstead-parquet-1',
    table: table.name,
    dataset: table.dataset,
    chain,
    chain_id: chainId,
    folder: partsOf(identity).join('/'),
    blocks_per_file: blocksPerFile,
    columns: columnsOf(table),
    rows: files.reduce((sum, { rows }) => sum + rows, 0),
    ranges: mergeRanges(files).map(({ from, to }) => ({ from, to })),
    files: files.toSorted((a, b) => a.from - b.from),
  };
  return `${JSON.stringify(manifest, null, 1)}\n`;
}

function columnsOf({ columns }: ExportTable): Manifest['columns'] {
  return columns.map(({ name, postgres, kind, isNullable: nullable }) => ({
    name,
    postgres,
    parquet: kind,
    nullable,
  }));
}

/** Replaces a file or link, and waits until the disk has it. */
async function writeDurably(path: string, text: string): Promise<void> {
  await rm(path, { force: true });
  const file = await open(path, 'wx');
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}
