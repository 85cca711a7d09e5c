// Closes the menu's open group by Escape, and by a click or the focus elsewhere. Without script a group is closed by its own name.
(() => {
  const groups = document.querySelectorAll('nav details');

  function closeUnlessIn(target) {
    for (const group of groups) if (!group.contains(target)) group.open = false;
  }

  addEventListener('click', ({ target }) => closeUnlessIn(target));
  addEventListener('focusin', ({ target }) => closeUnlessIn(target));
  addEventListener('keydown', ({ key }) => {
    const open = key === 'Escape' ? [...groups].find((group) => group.open) : undefined;
    if (open === undefined) return;
    open.open = false;
    open.querySelector('summary').focus();
  });
})();
