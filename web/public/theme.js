// Runs before the first paint, so that a dark page never flashes white.
;(() => {
  let wanted = 'auto'
  try {
    wanted = localStorage.getItem('belvedere-scheme') || 'auto'
  } catch {}
  const dark = matchMedia('(prefers-color-scheme: dark)').matches
  const scheme = wanted === 'auto' ? (dark ? 'dark' : 'light') : wanted
  document.documentElement.setAttribute('data-mantine-color-scheme', scheme)
})()
