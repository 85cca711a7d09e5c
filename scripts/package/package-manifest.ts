import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { REPOSITORY_ROOT } from '../check/source-files.ts';
import { workspaceOf } from './package-files.ts';

/** Names of packages with the one version that is meant. */
export type Versions = Readonly<Record<string, string>>;

/** package.json of what is published. */
export interface PackageManifest {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly type: 'module';
  readonly bin: Readonly<Record<string, string>>;
  readonly engines: Readonly<Record<string, string>>;
  readonly dependencies: Versions;
  readonly optionalDependencies: Versions;
  readonly repository: { readonly type: 'git'; readonly url: string };
}

interface SourceManifest {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly engines: Readonly<Record<string, string>>;
  readonly dependencies?: Versions;
  readonly optionalDependencies?: Versions;
  /** That of the root alone. */
  readonly repository?: { readonly url: string };
}

/** Packages that only `chainstead demo` uses: the published program downloads them when the demo first runs. */
export const DEMO_TOOLS: readonly string[] = [
  '@foundry-rs/anvil',
  '@opensea/seaport-js',
  '@openzeppelin/contracts',
  '@uniswap/v2-core',
  '@uniswap/v3-core',
  '@uniswap/v4-core',
  'solc',
];

const OWN = '@chainstead/';

/**
 * The manifest: of each bundled workspace those dependencies that a bundled module, or a file that goes along, names. The testkit has others, which
 * only tests need.
 * @param files bundled modules and files that go along, from the repository root
 * @param imported packages that the bundle imports
 * @param repository URL of the repository that makes it. Default: that of the root's package.json
 * @throws {RangeError} where a package is imported that no workspace declares, or two want different versions
 */
export function packageManifest(
  files: readonly string[],
  imported: readonly string[],
  repository?: string,
): PackageManifest {
  const root = readManifest('.');
  const { version } = readManifest('apps/chainstead');
  const dependencies: Record<string, string> = {};
  for (const [workspace, ofWorkspace] of Map.groupBy(files.filter(isOfWorkspace), workspaceOf)) {
    const text = ofWorkspace.map((path) => readFileSync(join(REPOSITORY_ROOT, path), 'utf8')).join('\n');
    for (const [name, wanted] of Object.entries(readManifest(workspace).dependencies ?? {})) {
      if (name.startsWith(OWN) || DEMO_TOOLS.includes(name) || !names(text, name)) continue;
      if (dependencies[name] !== undefined && dependencies[name] !== wanted)
        throw new RangeError(`${workspace} wants ${name} ${wanted}, another workspace ${dependencies[name]}`);
      dependencies[name] = wanted;
    }
  }
  const undeclared = imported.filter((name) => dependencies[name] === undefined);
  if (undeclared.length > 0)
    throw new RangeError(`No workspace that imports them declares ${undeclared.join(', ')}`);
  return {
    name: root.name,
    version,
    description: root.description,
    license: root.license,
    type: 'module',
    bin: { chainstead: 'bin/chainstead.js' },
    engines: { node: '>=22.21' },
    dependencies: Object.fromEntries(
      Object.entries(dependencies).toSorted(([a], [b]) => a.localeCompare(b, 'en')),
    ),
    // The pinned Node of the checkout is none: the package runs on the system's.
    optionalDependencies: {},
    repository: { type: 'git', url: repository ?? root.repository?.url ?? '' },
  };
}

function isOfWorkspace(path: string): boolean {
  return /^(?:apps|packages)\//.test(path);
}

/** Whether a text names a package, or a file of it, in quotes. */
function names(text: string, name: string): boolean {
  return [`'${name}'`, `"${name}"`, `'${name}/`, `"${name}/`].some((quoted) => text.includes(quoted));
}

/** Reads the package.json of a folder of the checkout. */
export function readManifest(folder: string): SourceManifest {
  return JSON.parse(readFileSync(join(REPOSITORY_ROOT, folder, 'package.json'), 'utf8'));
}
