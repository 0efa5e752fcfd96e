import type { Shape } from '../../api/client'

type KnownAddress = Shape<'InstallAddress'>

/** How a new host reaches the server. */
export interface Reachability {
  /** The address for the command, with a slash at its end. */
  root: string
  /** Other addresses that may work; empty if `root` is certain. */
  choices: string[]
  /** Options to restart the server with, because no other machine can reach it now. */
  options: string[]
}

export function isLoopback(url: string): boolean {
  const { hostname } = new URL(url)
  return (
    hostname === 'localhost' ||
    hostname.endsWith('.localhost') ||
    hostname === '[::1]' ||
    /^127(\.\d+){3}$/.test(hostname)
  )
}

const withSlash = (url: string) => (url.endsWith('/') ? url : `${url}/`)

/** `page`: the address at which this browser reaches the server. */
export function reachability(page: string, address?: KnownAddress): Reachability {
  const root = withSlash(address?.url || page)
  if (!address || !isLoopback(root)) return { root, choices: [], options: [] }
  if (address.url || address.listens_on_loopback)
    return { root, choices: [], options: address.options }
  const choices = address.addresses.map(withSlash)
  return { root: choices[0] ?? root, choices, options: [] }
}

/** The address in the options of a start command. */
export function urlOf(options: string): string {
  return /--url (\S+)/.exec(options)?.[1] ?? options
}

/** sudo removes variables that are set before it, so the token follows the word sudo. */
export function installCommands(root: string, token: string) {
  const download = `curl -fsSL ${root}-/install.sh | `
  const start = `BELVEDERE_ENROLMENT_TOKEN=${token} sh`
  return { withSudo: `${download}sudo ${start}`, plain: `${download}${start}` }
}
