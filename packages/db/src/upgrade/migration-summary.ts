import type { StatementEffect } from './statement-effects.ts';

/**
 * Returns a one-line summary of a migration: its leading comment if it has one, otherwise the objects it creates, adds
 * and drops.
 */
export function summariseMigration(text: string, effects: readonly StatementEffect[]): string {
  const [comment = ''] = /^(?:--(?!>)[^\n]*\n?)+/.exec(text) ?? [];
  const sentence = /^.*?\.(?=\s|$)/.exec(
    comment
      .replaceAll(/^--\s*/gm, '')
      .replaceAll(/\s+/g, ' ')
      .trim(),
  )?.[0];
  if (sentence !== undefined) return sentence;
  const parts = WORDS.flatMap(({ kind, say }) => {
    const objects = [...new Set(effects.flatMap((effect) => (effect.kind === kind ? [nameOf(effect)] : [])))];
    return objects.length === 0 ? [] : [`${say} ${listed(objects)}`];
  });
  return parts.length === 0 ? 'Changes definitions alone.' : `${capitalised(parts.join('; '))}.`;
}

const WORDS: readonly { readonly kind: StatementEffect['kind']; readonly say: string }[] = [
  { kind: 'create-table', say: 'makes' },
  { kind: 'rename', say: 'renames' },
  { kind: 'rewrite', say: 'rewrites' },
  { kind: 'add-column', say: 'adds columns to' },
  { kind: 'change-rows', say: 'changes rows of' },
  { kind: 'build-index', say: 'builds' },
  { kind: 'drop-table', say: 'drops' },
  { kind: 'drop-view', say: 'drops the view' },
  { kind: 'drop-index', say: 'drops the index' },
];
const NAMES_MAX = 4;

function nameOf({ object, index }: StatementEffect): string {
  return index?.name ?? object ?? '';
}

function listed(names: readonly string[]): string {
  const more = names.length - NAMES_MAX;
  return more > 0 ? `${names.slice(0, NAMES_MAX).join(', ')} and ${more} more` : names.join(', ');
}

function capitalised(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}
