/** `npm run check`: everything that can be said of the sources without running them. Exit code 1 when a step fails. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  findCircles,
  findFlatPackages,
  findFolderCircles,
  findTypeCircles,
  findUnboundedDecoders,
  findWrongImports,
  readImports,
} from './check/dependency-direction.ts';
import { compareReleasedMigrations } from './check/released-migrations.ts';
import { findRepositoryProse } from './check/repository-prose.ts';
import { runTool } from './check/run-tool.ts';
import { REPOSITORY_ROOT, readSourceFiles } from './check/source-files.ts';
import { findLongLimits } from './check/test-limits.ts';
import { type GeneratedFile, renderGeneratedFiles } from './generated/generated-files.ts';

interface Step {
  readonly name: string;
  /** @returns the problems; empty if there are none */
  run(): Promise<string | StepOutcome>;
}

interface StepOutcome {
  readonly problems: string;
  /** Printed after the step's name. */
  readonly note: string;
}

const STEPS: readonly Step[] = [
  {
    name: 'types (tsc)',
    run: () => tool('tsc', ['--incremental', '--tsBuildInfoFile', 'node_modules/.cache/check.tsbuildinfo']),
  },
  { name: 'lint and format (biome)', run: () => tool('biome', ['check', '--error-on-warnings', '.']) },
  { name: 'dependency direction', run: checkDependencyDirection },
  { name: 'unused files, exports, dependencies (knip)', run: () => tool('knip', ['--no-progress']) },
  {
    name: 'exports that only tests use (knip)',
    run: () =>
      tool('knip', [
        '--no-progress',
        '--production',
        '--config',
        'knip.production.json',
        '--include',
        'exports,files',
      ]),
  },
  { name: 'generated files up to date', run: checkGeneratedFiles },
  { name: 'prose', run: checkProse },
  { name: 'limits of tests', run: async () => findLongLimits(readSourceFiles()).join('\n') },
  { name: 'migrations as they were released', run: checkReleasedMigrations },
];

process.exitCode = (await runSteps()) ? 0 : 1;

async function runSteps(): Promise<boolean> {
  let passed = true;
  for (const step of STEPS) {
    const startedAt = performance.now();
    const outcome = await step.run();
    const { problems, note } = typeof outcome === 'string' ? { problems: outcome, note: '' } : outcome;
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
    console.log(`${problems === '' ? '✓' : '✗'} ${step.name} (${seconds} s)${note === '' ? '' : `: ${note}`}`);
    if (problems !== '') console.log(problems.replaceAll(/^/gm, '    '));
    passed &&= problems === '';
  }
  return passed;
}

async function tool(name: string, args: readonly string[]): Promise<string> {
  const { exitCode, output } = await runTool(name, args);
  return exitCode === 0 ? '' : output.trim() || `${name} ended with exit code ${exitCode}`;
}

async function checkDependencyDirection(): Promise<string> {
  const modules = readSourceFiles().map(({ path, text }) => ({ path, imports: readImports(text) }));
  const circles = new Set([...findCircles(modules), ...findTypeCircles(modules), ...findFolderCircles(modules)]);
  return [
    ...findWrongImports(modules),
    ...findUnboundedDecoders(modules),
    ...findFlatPackages(modules),
    ...[...circles].map((circle) => `circle: ${circle}`),
  ].join('\n');
}

async function checkGeneratedFiles(): Promise<string> {
  return (await renderGeneratedFiles()).filter(isOutdated).map(outdated).join('\n');
}

async function checkProse(): Promise<string> {
  return findRepositoryProse().join('\n');
}

function isOutdated({ path, text }: GeneratedFile): boolean {
  return textOf(path) !== text;
}

function outdated({ path }: GeneratedFile): string {
  return `${path} is outdated: run "npm run generate"`;
}

async function checkReleasedMigrations(): Promise<StepOutcome> {
  const { tags, problems } = await compareReleasedMigrations(REPOSITORY_ROOT);
  const note = tags.length === 0 ? 'no release tags here' : `compared with ${tags.length} releases`;
  return { problems: problems.join('\n'), note };
}

function textOf(path: string): string | null {
  const absolute = join(REPOSITORY_ROOT, path);
  return existsSync(absolute) ? readFileSync(absolute, 'utf8') : null;
}
