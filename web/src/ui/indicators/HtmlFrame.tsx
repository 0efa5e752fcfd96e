import { useComputedColorScheme } from '@mantine/core'

interface Props {
  html: string
  title: string
  big?: boolean | undefined
}

// The frame inherits the console's policy; this one forbids everything that the console's still
// allows.
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
const COLORS = { light: ['#1c2126', '#1864ab'], dark: ['#d5dbe1', '#74c0fc'] } as const

/**
 * HTML from outside, which the server has made harmless. It is shown in a document of its own:
 * without scripts, forms and origin, so that what the server may have missed can do nothing either.
 * Only a click on a link opens a tab.
 */
export function HtmlFrame({ html, title, big }: Props) {
  const scheme = useComputedColorScheme('light')
  return (
    <iframe
      className="large-frame"
      title={title}
      sandbox="allow-popups allow-popups-to-escape-sandbox"
      referrerPolicy="no-referrer"
      srcDoc={documentOf(html, scheme, big ? 22 : 13)}
    />
  )
}

function documentOf(html: string, scheme: 'light' | 'dark', size: number): string {
  const [text, link] = COLORS[scheme]
  return `<!doctype html><html><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${POLICY}"><style>
:root { color-scheme: ${scheme}; }
body { margin: 0; color: ${text}; background: transparent; font: ${size}px/1.45 system-ui, sans-serif; overflow-wrap: anywhere; }
body > :first-child { margin-top: 0; }
h1, h2, h3, h4, h5, h6 { margin: 0.4em 0; font-size: 1.15em; }
p, ul, ol, table { margin: 0.4em 0; }
a { color: ${link}; }
table { border-collapse: collapse; }
td, th { padding: 2px 8px 2px 0; text-align: left; vertical-align: top; }
img { max-width: 100%; }
pre { overflow: auto; }
</style></head><body>${html}</body></html>`
}
