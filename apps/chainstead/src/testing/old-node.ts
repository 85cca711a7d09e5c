import { execFileSync } from 'node:child_process';

/** A Node of this machine that is too old to run the program, as a system's own may be; null where there is none. For tests. */
export function findOldNode(): string | null {
  const candidates = execFileSync('sh', ['-c', 'which -a node || true'], { encoding: 'utf8' }).trim().split('\n');
  for (const candidate of [...candidates, '/usr/local/bin/node', '/usr/bin/node']) {
    if (candidate === '' || candidate.includes('node_modules')) continue;
    const version = execFileSync('sh', ['-c', `"${candidate}" --version || true`], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const major = Number(/^v(\d+)\./.exec(version)?.[1]);
    if (major >= 20 && major < 26) return candidate;
  }
  return null;
}
