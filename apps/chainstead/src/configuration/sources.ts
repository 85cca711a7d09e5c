import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { errorText } from '@chainstead/core';
import { z } from 'zod';
import { ConfigurationFileError } from './problems.ts';

export interface ConfigurationSource {
  /** `environment` or the path of a file. */
  readonly origin: string;
  /** Every key is for Chainstead (a file), or only some (the environment). */
  readonly isOwn: boolean;
  readonly variables: Readonly<Record<string, string>>;
}

/** Empty values are absent, as in compose files. */
export function environmentSource(
  environment: Readonly<Record<string, string | undefined>>,
): ConfigurationSource {
  return { origin: 'environment', isOwn: false, variables: withoutEmpty(environment) };
}

/** `KEY=value` lines, or a JSON object in `*.json`. @throws ConfigurationFileError */
export function fileSource(path: string): ConfigurationSource {
  const text = readText(path);
  return {
    origin: path,
    isOwn: true,
    variables: withoutEmpty(path.endsWith('.json') ? parseJson(path, text) : parseEnv(text)),
  };
}

export function mergeSources(sources: readonly ConfigurationSource[]): Record<string, string> {
  const merged: Record<string, string> = {};
  for (const source of sources.toReversed()) Object.assign(merged, source.variables);
  return merged;
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConfigurationFileError(path, `can't be read (${errorText(error)})`, error);
  }
}

const scalar = z.union([z.string(), z.number(), z.boolean()]).transform(String);
const jsonFile = z.record(z.string(), z.union([scalar, z.array(scalar).transform((items) => items.join(','))]));

function parseJson(path: string, text: string): Record<string, string> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new ConfigurationFileError(path, `is not JSON (${errorText(error)})`, error);
  }
  const parsed = jsonFile.safeParse(value);
  if (parsed.success) return parsed.data;
  const key = parsed.error.issues[0]?.path.join('.') ?? '';
  throw new ConfigurationFileError(
    path,
    `has a value that is not a string, number, boolean or list of these: ${key}`,
  );
}

function withoutEmpty(variables: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [key, value] of Object.entries(variables))
    if (value !== undefined && value.trim() !== '') kept[key] = value.trim();
  return kept;
}
