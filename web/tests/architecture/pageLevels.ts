import { readFileSync } from 'node:fs'
import { LEVELS, type Level } from '../../src/app/permissions'

const PAGE = new URL('../../../docs/reference/console.md', import.meta.url)
const ROW = new RegExp(`^\\| ([^|]+) \\| .* \\| (${LEVELS.join('|')}) \\|$`, 'gm')

/** The lowest level that sees each page, by its title, as the documentation says. */
export const DOCUMENTED_LEVELS = new Map<string, Level>(
  [...readFileSync(PAGE, 'utf8').matchAll(ROW)].map(([, title, level]) => [title!, level as Level]),
)
