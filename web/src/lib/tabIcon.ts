/** The drawing of public/favicon.svg; a test compares them. */
export const DRAWING =
  '<rect width="32" height="32" rx="7" fill="#1864ab"/><path d="M6 24h20M9 24V13m7 11V13m7 11V13M7 12l9-6 9 6z" fill="none" stroke="#fff" stroke-width="2.4" stroke-linecap="round" stroke-linejoin="round"/>'

/** More digits are not readable at the size of a tab's icon. */
const MAX_SHOWN = 9

/** The icon of the tab, with the number of problems in a red circle. */
export function tabIcon(problems: number): string {
  const text = problems > MAX_SHOWN ? `${MAX_SHOWN}+` : problems
  const badge = `<circle cx="21" cy="21" r="11" fill="#c92a2a"/><text x="21" y="26.5" text-anchor="middle" font-family="sans-serif" font-weight="bold" font-size="15" fill="#fff">${text}</text>`
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">${DRAWING}${badge}</svg>`
  return `data:image/svg+xml,${encodeURIComponent(svg)}`
}

let plain = ''

/** Without problems the tab has its own icon again. */
export function showProblems(problems: number): void {
  const link = document.querySelector<HTMLLinkElement>('link[rel="icon"]')
  if (!link) return
  plain ||= link.getAttribute('href') ?? ''
  link.setAttribute('href', problems ? tabIcon(problems) : plain)
}
