import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { REPOSITORY_ROOT } from '../check/source-files.ts';
import { releaseNotes } from './release-notes.ts';

const CHANGELOG = `# Changelog

## [Unreleased]

### Added

- A console.

## [1.1.0] - 2026-12-01

### Fixed

- The lag.

## [1.0.0] - 2026-11-30

- Everything.
`;

describe('release notes', () => {
  it('are the section of the version, up to the next one', () => {
    expect(releaseNotes('v1.1.0', '1.1.0', CHANGELOG)).toBe('### Fixed\n\n- The lag.\n');
    expect(releaseNotes('v1.0.0', '1.0.0', CHANGELOG)).toBe('- Everything.\n');
  });

  it('are refused where nothing is said of the version', () => {
    expect(() => releaseNotes('v2.0.0', '2.0.0', CHANGELOG)).toThrow(/no section \[2\.0\.0\]/);
    expect(() => releaseNotes('v2.0.0', '2.0.0', '## [2.0.0]\n\n## [1.0.0]\n- x\n')).toThrow(/is empty/);
  });
});

describe('CHANGELOG.md', () => {
  const changelog = readFileSync(join(REPOSITORY_ROOT, 'CHANGELOG.md'), 'utf8');

  it('begins with what is not released yet, and sorts changes by the kinds of Keep a Changelog', () => {
    const versions = [...changelog.matchAll(/^## (.+)$/gm)].map(([, heading = '']) => heading);
    expect(versions[0]).toBe('[Unreleased]');
    for (const heading of versions.slice(1)) expect(heading).toMatch(/^\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d$/);
    const kinds = [...changelog.matchAll(/^### (.+)$/gm)].map(([, kind = '']) => kind);
    const known = new Set(['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security']);
    expect(kinds.length).toBeGreaterThan(0);
    expect(kinds.filter((kind) => !known.has(kind))).toEqual([]);
  });
});
