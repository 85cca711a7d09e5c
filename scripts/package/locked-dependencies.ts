import type { PackageManifest } from './package-manifest.ts';

/** package-lock.json, or npm-shrinkwrap.json, which has the same form and is published. */
export interface Lock {
  readonly lockfileVersion: number;
  /** By place: `node_modules/pg`, `node_modules/pg/node_modules/x`. */
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

/** Entry of a package in a lock; unnamed members are kept as they are. */
export interface LockedPackage {
  readonly version?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly optional?: boolean;
}

/** What a lock is made for. */
export type LockedManifest = Pick<PackageManifest, 'name' | 'version' | 'dependencies' | 'optionalDependencies'> &
  Partial<PackageManifest>;

/**
 * The lock of the published package: from the checkout's lock, all dependencies of the package at the same places, so that users install
 * the versions that were tested.
 * @throws {RangeError} where the checkout's lock lacks a dependency, or has another version of it
 */
export function lockedDependencies(
  manifest: LockedManifest,
  lock: Lock,
): Lock & Pick<PackageManifest, 'name' | 'version'> {
  const { name, version, license, bin, engines, dependencies, optionalDependencies } = manifest;
  const root = { name, version, license, bin, engines, dependencies, optionalDependencies };
  const needed = reach(lock, root, false);
  for (const [dependency, wanted] of Object.entries(dependencies)) {
    const locked = lock.packages[`node_modules/${dependency}`]?.version;
    if (locked !== wanted)
      throw new RangeError(`package-lock.json has ${dependency} ${locked ?? 'nowhere'}, not ${wanted}`);
  }
  const packages: Record<string, LockedPackage> = { '': root };
  for (const place of [...reach(lock, root, true)].toSorted()) {
    const { dev: _dev, devOptional: _devOptional, optional: _optional, ...locked } = lock.packages[place] ?? {};
    packages[place] = needed.has(place) ? locked : { ...locked, optional: true };
  }
  return { name, version, lockfileVersion: lock.lockfileVersion, packages };
}

/** Places of everything that a package needs. @param withOptional what may be missing, too */
function reach(lock: Lock, root: LockedPackage, withOptional: boolean): Set<string> {
  const reached = new Set<string>();
  const open: (readonly [place: string, of: LockedPackage])[] = [['', root]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [from, of] = next;
    for (const { name, isOptional } of edgesOf(of)) {
      if (isOptional && !withOptional) continue;
      const place = find(lock, from, name);
      const found = place === null ? undefined : lock.packages[place];
      if (place === null || found === undefined) {
        if (isOptional) continue;
        throw new RangeError(
          `package-lock.json lacks ${name}, which ${from === '' ? 'the program' : from} needs`,
        );
      }
      if (reached.has(place)) continue;
      reached.add(place);
      open.push([place, found]);
    }
  }
  return reached;
}

function edgesOf(of: LockedPackage): { readonly name: string; readonly isOptional: boolean }[] {
  const required = Object.keys(of.dependencies ?? {}).filter(
    (name) => of.optionalDependencies?.[name] === undefined,
  );
  // Packages that may do without a peer are not given it.
  const peers = Object.keys(of.peerDependencies ?? {}).filter(
    (name) => of.peerDependenciesMeta?.[name]?.optional !== true,
  );
  return [
    ...[...required, ...peers].map((name) => ({ name, isOptional: false })),
    ...Object.keys(of.optionalDependencies ?? {}).map((name) => ({ name, isOptional: true })),
  ];
}

/** Where a package finds another one: in its own folder of packages, or the next one above. */
function find(lock: Lock, from: string, name: string): string | null {
  for (let folder = from; ; folder = folder.slice(0, Math.max(folder.lastIndexOf('/node_modules/'), 0))) {
    const place = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`;
    if (lock.packages[place] !== undefined) return place;
    if (folder === '') return null;
  }
}
