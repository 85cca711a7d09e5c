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

  it('reads errors whose class takes code, message and remedy one after the other', () => {
    const text = `throw new ListError('LIST_EMPTY', \`The list \${name} is empty\`, 'Give another');`;
    expect(collectErrors([{ path: 'packages/assets/tokens/src/list.ts', text }])).toEqual([
      {
        code: 'LIST_EMPTY',
        message: 'The list … is empty',
        remedy: 'Give another',
        retry: 'no',
        owner: 'tokens',
      },
    ]);
  });

  it('falls back to what the class says of itself', () => {
    const text =
      "/** The thing is gone. More. */\nexport class GoneError extends ChainsteadError {\n  constructor(message: string) {\n    super({ code: 'THING_GONE', message, retryable: false });\n  }\n}";
    expect(collectErrors([{ path: 'packages/doors/db/src/gone.ts', text }])[0]?.message).toBe(
      'The thing is gone.',
    );
  });

  it('has a remedy for every error of the program, and none that is not shown', () => {
    const files = readSourceFiles();
    const wanting = collectErrors(files).filter(({ remedy }) => remedy.trim() === '');
    expect(wanting.map(({ code }) => code)).toEqual([]);
    expect(needlessRemedies(files)).toEqual([]);
  });

  it('passes over tests, what is for tests, and the testkit', () => {
    expect(collectErrors([{ path: 'packages/engine/http/src/testing/lost.ts', text: SOURCE }])).toEqual([]);
    expect(collectErrors([{ path: 'packages/doors/db/src/lost.test.ts', text: SOURCE }])).toEqual([]);
    expect(collectErrors([{ path: 'tests/testkit/src/lost.ts', text: SOURCE }])).toEqual([]);
  });

  it('renders a heading for each code, with placeholders escaped outside of code', () => {
    const text = SOURCE.replace('Find it | again', 'Set LOST_<NAME>, or `LOST_<NAME>=1`');
    const page = renderErrorPage(collectErrors([{ path: 'packages/doors/db/src/lost.ts', text }]));
    expect(page).toContain(
      '## db\n\n### THING_LOST\n\n- **Message:** … is lost since …\n- **Fix:** Set LOST_\\<NAME>, or `LOST_<NAME>=1`. A retry can succeed.\n',
    );
  });
});
