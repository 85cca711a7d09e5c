import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { errorText } from '@chainstead/core';
import { z } from 'zod';
import { chainSuffix } from './chain-keys.ts';
import { ConfigurationFileError } from './problems.ts';
import { keySuggestions } from './suggestion.ts';

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

export interface ConfigurationWarning {
  readonly key: string;
  readonly message: string;
}

interface KnownKeys {
  readonly accepted: readonly string[];
  readonly perChain: readonly string[];
  readonly configuredChains: readonly string[];
}

const READ_ELSEWHERE = ['CHAINSTEAD_CONFIG'];
const OWN_PREFIX = 'CHAINSTEAD_';

/** All keys of a file; from the environment, those that look like ours. */
export function warnOfUnknownKeys(
  sources: readonly ConfigurationSource[],
  known: KnownKeys,
): ConfigurationWarning[] {
  const accepted = new Set([...known.accepted, ...READ_ELSEWHERE]);
  const suggest = { accepted: keySuggestions(known.accepted), perChain: keySuggestions(known.perChain) };
  return sources.flatMap((source) =>
    Object.keys(source.variables)
      .filter((key) => !accepted.has(key))
      .flatMap((key) => {
        const reason = unknownKeyReason(key, source, known, suggest);
        return reason === null ? [] : [{ key, message: `${key} (${source.origin}) has no effect: ${reason}` }];
      }),
  );
}

function unknownKeyReason(
  key: string,
  { isOwn }: ConfigurationSource,
  known: KnownKeys,
  suggest: Readonly<Record<'accepted' | 'perChain', (given: string) => string | null>>,
): string | null {
  const suggestion = suggest.accepted(key);
  if (suggestion !== null) return `did you mean ${suggestion}?`;
  const ofChains = known.perChain.find((name) => name === key) ?? suggest.perChain(key);
  if (ofChains !== null) {
    const [first = 'eth'] = known.configuredChains;
    return `set it for each chain: ${ofChains}_${chainSuffix(first)}`;
  }
  const family = known.perChain.find((name) => key.startsWith(`${name}_`));
  if (family !== undefined) {
    const chain = key
      .slice(family.length + 1)
      .toLowerCase()
      .replaceAll('_', '-');
    return `${chain} is not in CHAINS (${known.configuredChains.join(',') || 'empty'})`;
  }
  return isOwn || key.startsWith(OWN_PREFIX) ? 'unknown setting' : null;
}
