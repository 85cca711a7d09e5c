import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { REPOSITORY_ROOT } from './source-files.ts';

export interface ToolResult {
  readonly exitCode: number;
  /** Standard output and error, in the order they came. */
  readonly output: string;
}

/** Runs a tool of `node_modules/.bin` in the checkout, to its end. */
export function runTool(name: string, args: readonly string[]): Promise<ToolResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(join(REPOSITORY_ROOT, 'node_modules/.bin', name), args, {
      cwd: REPOSITORY_ROOT,
      env: { ...process.env, FORCE_COLOR: process.stdout.isTTY ? '1' : '0' },
    });
    const chunks: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.on('error', reject);
    child.on('close', (code) => resolve({ exitCode: code ?? 1, output: Buffer.concat(chunks).toString() }));
  });
}
