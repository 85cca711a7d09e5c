import { stat } from 'node:fs/promises';
import { unlessMissing } from './unless-missing.ts';

export async function pathExists(path: string): Promise<boolean> {
  return (await unlessMissing(stat(path))) !== undefined;
}
