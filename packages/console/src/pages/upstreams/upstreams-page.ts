import { redactUrl } from '@chainstead/core';
import { InvalidParameterError, recordAudit } from '@chainstead/http';
import { listWrongAnswers } from '@chainstead/sync';
import { html } from 'hono/html';
import { z } from 'zod';
import type { ConsolePage } from '../../console-page.ts';
import { livePart } from '../../layout/live-part.ts';
import { nodeReportParts } from './node-report-view.ts';
import { findingsOfTest } from './node-test.ts';
import { testForm, upstreamsView } from './upstreams-view.ts';
import { readCursor } from './wrong-answer-cursor.ts';
import { wrongAnswersView } from './wrong-answers-view.ts';

const CHAIN_MAX = 64;
const URL_MAX = 2_000;
const WRONG_ANSWERS_PAGE = 100;

const testFields = z.object({
  chain: z
    .string()
    .trim()
    .max(CHAIN_MAX, 'is no chain')
    .regex(/^[\w -]+$/, 'is no chain'),
  // What is wrong with it is said without repeating it: keys live in it.
  url: z
    .string()
    .trim()
    .max(URL_MAX, `is longer than ${URL_MAX} characters`)
    .regex(/^(https?|wss?):\/\//i, 'begins with none of http://, https://, ws://, wss://')
    .refine((url) => URL.canParse(url), 'is no URL'),
});

/** Nodes: how they are, what they take and fail, who was caught in a wrong answer, and whether another one would do. */
export const upstreamsPage: ConsolePage = {
  path: '/upstreams',
  title: 'Upstreams',
  group: 'Nodes',
  addRoutes(routes, { upstreams, nodeTest, database }) {
    routes.view('/upstreams', async ({ token }) => {
      const read = await upstreams.read();
      const first = read.rows[0]?.chain ?? nodeTest.chains[0] ?? '';
      return {
        title: 'Upstreams',
        body: html`<h1>Upstreams</h1>
${livePart('/upstreams', upstreamsView(read, upstreams.addressOf))}
${testForm(token, nodeTest.chains, first)}`,
      };
    });
    routes.live('/upstreams', async () => upstreamsView(await upstreams.read(), upstreams.addressOf));
    routes.view('/upstreams/wrong-answers', async ({ query }) => {
      const records = await listWrongAnswers(database, readCursor(query('before')), WRONG_ANSWERS_PAGE + 1);
      return { title: 'Wrong answers', body: wrongAnswersView(records, WRONG_ANSWERS_PAGE, upstreams.addressOf) };
    });
    routes.change('/upstreams/test', testFields, async ({ form, by }) => {
      const { chain, url } = form;
      const node = redactUrl(url);
      // Before anything is sent: who had this server ask an address is known, whatever comes of it.
      await database.transaction((transaction) =>
        recordAudit(transaction, by, { action: 'node.test', target: chain, details: { node } }),
      );
      const findings = findingsOfTest((onFinding) => nodeTest.run(chain, url, onFinding));
      // What keeps a test from beginning is answered as what it is.
      const first = await findings.next();
      if (first.value === null)
        throw new InvalidParameterError({
          parameter: 'chain',
          given: chain,
          allowed: 'a name of a chain, such as eth',
        });
      return { title: 'Test of a node', parts: nodeReportParts(first, findings) };
    });
  },
};
