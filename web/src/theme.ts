import {
  ActionIcon,
  Anchor,
  Badge,
  Button,
  type CSSVariablesResolver,
  createTheme,
  NavLink,
  Tooltip,
} from '@mantine/core'

/** Mantine's defaults miss AA in three places (dimmed text, placeholder, primary shade). */
export const theme = createTheme({
  fontFamily: '"Inter Variable", Inter, system-ui, sans-serif',
  fontFamilyMonospace: '"JetBrains Mono Variable", ui-monospace, monospace',
  fontSizes: { xs: '0.75rem', sm: '0.8125rem', md: '0.875rem' },
  primaryColor: 'blue',
  primaryShade: { light: 8, dark: 8 },
  defaultRadius: 'md',
  cursorType: 'pointer',
  focusRing: 'auto',
  colors: {
    dark: [
      '#e6e9ee',
      '#c3c9d2',
      '#9aa3b0',
      '#6b7480',
      '#2d343f',
      '#232932',
      '#191d24',
      '#14171c',
      '#0e1116',
      '#0a0c10',
    ],
  },
  components: {
    // A link in a sentence must be recognizable without colour.
    Anchor: Anchor.extend({ defaultProps: { underline: 'always' } }),
    Badge: Badge.extend({ defaultProps: { tt: 'none', fw: 500, variant: 'default' } }),
    Button: Button.extend({ defaultProps: { size: 'xs' } }),
    ActionIcon: ActionIcon.extend({ defaultProps: { variant: 'subtle', color: 'gray' } }),
    Tooltip: Tooltip.extend({ defaultProps: { openDelay: 300, withArrow: true } }),
    Modal: { defaultProps: { centered: true, overlayProps: { backgroundOpacity: 0.4 } } },
    NavLink: NavLink.extend({ defaultProps: { variant: 'light' } }),
  },
})

export const variables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': '#59616d',
    '--mantine-color-text': '#14181f',
    '--mantine-color-default-border': '#e2e5ea',
    '--mantine-color-placeholder': '#6b7480',
    '--mantine-color-error': '#b01217',
  },
  dark: {
    '--mantine-color-dimmed': '#9aa3b0',
    '--mantine-color-default-border': '#262c35',
    '--mantine-color-placeholder': '#8b94a1',
    '--mantine-color-error': '#ff8a78',
    '--mantine-color-anchor': '#7cb8ff',
  },
})
