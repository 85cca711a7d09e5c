import { inBrowser, type Theme } from 'vitepress';
import DefaultTheme from 'vitepress/theme';
import { nextTick } from 'vue';

/** The default theme, with diagrams drawn in the browser. */
export default {
  extends: DefaultTheme,
  enhanceApp({ router }) {
    if (!inBrowser) return;
    router.onAfterPageLoad = () => nextTick(drawDiagrams);
  },
} satisfies Theme;

/** Draws each once. Loads the library on pages that have one. */
async function drawDiagrams(): Promise<void> {
  const diagrams = document.querySelectorAll<HTMLElement>('pre.mermaid:not([data-processed])');
  if (diagrams.length === 0) return;
  const { default: mermaid } = await import('mermaid');
  const isDark = document.documentElement.classList.contains('dark');
  mermaid.initialize({ startOnLoad: false, theme: isDark ? 'dark' : 'default' });
  await mermaid.run({ nodes: diagrams });
}
