// Writes the key of the demo's link (#key=…) into its field. The reader signs in: links from elsewhere must not.
(() => {
  const field = document.querySelector('form[action="/console/sign-in"] [name="key"]');
  const [, key] = /^#key=([0-9a-f]{32})$/.exec(location.hash) ?? [];
  if (field === null || key === undefined) return;
  history.replaceState(null, '', `${location.pathname}${location.search}`);
  field.value = key;
  field.form.querySelector('button').focus();
})();
