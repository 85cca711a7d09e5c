import type { StatementEffect } from './statement-effects.ts';

/** The leading comment, or the objects that it creates, adds and drops. */
export function summariseMigration(text: string, effects: readonly StatementEffect[]): string {
  const [comment = ''] = /^(?:--(?!>)[^\n]*\n?)+/.exec(text) ?? [];
  const line = comment
    .replaceAll(/^--\s*/gm, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
  const sentence = /^.*?\.(?=\s|$)/.exec(line)?.[0];
  if (sentence !== undefined) return sentence;
  const parts = Object.entries(VERBS).flatMap(([kind, verb]) => {
    const ofKind = effects.filter((effect) => effect.kind === kind);
    const names = [...new Set(ofKind.map(({ object, index }) => index?.name ?? object ?? ''))];
    const more = names.length > NAMES_MAX ? ` and ${names.length - NAMES_MAX} more` : '';
    return names.length === 0 ? [] : [`${verb} ${names.slice(0, NAMES_MAX).join(', ')}${more}`];
  });
  const summary = parts.length === 0 ? 'changes definitions alone' : parts.join('; ');
  return `${summary.slice(0, 1).toUpperCase()}${summary.slice(1)}.`;
}
const VERBS: Readonly<Partial<Record<StatementEffect['kind'], string>>> = {
  'create-table': 'makes',
  rename: 'renames',
  rewrite: 'rewrites',
  'add-column': 'adds columns to',
  'change-rows': 'changes rows of',
  'build-index': 'builds',
  'drop-table': 'drops',
  'drop-view': 'drops the view',
  'drop-index': 'drops the index',
};
const NAMES_MAX = 4;
