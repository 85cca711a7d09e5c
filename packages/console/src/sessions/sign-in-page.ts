import { html } from 'hono/html';
import { type Html, NOTHING } from '../layout/html.ts';

/** Where a key is asked for. @param problem why the last one was not accepted @param goTo what to look at afterwards */
export function signInPage(problem: string | null, goTo: string): Html {
  return html`<h1>Sign in</h1>
${problem === null ? NOTHING : html`<p class="problem" role="alert">${problem}</p>`}
<form method="post" action="/console/sign-in" class="fields">
<input type="hidden" name="to" value="${goTo}">
<div><label for="key">Key with the scope <code>admin</code></label>
<input id="key" name="key" type="password" autocomplete="current-password" required maxlength="200" autofocus></div>
<div><button>Sign in</button></div>
</form>
<p class="soft">The first start on this machine writes such a key to <code>DATA_DIR/console-key</code>; <code>chainstead keys create --scope admin</code> makes another one.</p>`;
}

const OWN_PATH = /^\/console(?:[/?][\w./?=&%~:-]*)?$/;

/** Where to go after signing in: pages of the console alone. */
export function ownPath(given: string | undefined): string {
  return given !== undefined && OWN_PATH.test(given) && !given.includes('//') ? given : '/console';
}
