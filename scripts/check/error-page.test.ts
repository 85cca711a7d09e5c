import { describe, expect, it } from 'vitest';
import { collectErrors, needlessRemedies, renderErrorPage } from './error-page.ts';
import { readSourceFiles } from './source-files.ts';

const SOURCE = `
export class LostError extends ChainsteadError {
  constructor(name: string) {
    super({
      code: 'THING_LOST',
      message: \`\${name} is lost since \${format({ at: 1 })}\`,
      facts: { name },
      remedy: 'Find it | again',
      retryable: true,
    });
  }
}
`;

describe('error page', () => {
  it('reads code, message, remedy and retry from the sources', () => {
    expect(collectErrors([{ path: 'packages/doors/db/src/lost.ts', text: SOURCE }])).toEqual([
      { code: 'THING_LOST', message: '… is lost since …', remedy: 'Find it | again', retry: 'yes', owner: 'db' },
    ]);
  });

  it('has a remedy for every error of the program, and none that is not shown', () => {
    const files = readSourceFiles();
    const wanting = collectErrors(files).filter(({ remedy }) => remedy.trim() === '');
    expect(wanting.map(({ code }) => code)).toEqual([]);
    expect(needlessRemedies(files)).toEqual([]);
  });

  it('renders a heading for each code, with placeholders escaped outside of code', () => {
    const text = SOURCE.replace('Find it | again', 'Set LOST_<NAME>, or `LOST_<NAME>=1`');
    const page = renderErrorPage(collectErrors([{ path: 'packages/doors/db/src/lost.ts', text }]));
    expect(page).toContain(
      '## db\n\n### THING_LOST\n\n- **Message:** … is lost since …\n- **Fix:** Set LOST_\\<NAME>, or `LOST_<NAME>=1`. A retry can succeed.\n',
    );
  });
});
