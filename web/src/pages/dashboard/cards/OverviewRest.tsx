import { AppLink } from '../../../ui/AppLink'
import { useWords } from '../../../ui/text'

interface Props {
  of: { rows: unknown[]; total: number | null }
  to: string
}

/** The number of rows that a card does not show, with a link; nothing if it shows all. */
export function OverviewMore({ of: { rows, total }, to }: Props) {
  const w = useWords()
  if (total === null || total <= rows.length) return null
  return (
    <AppLink to={to} className="row dash-more">
      {w.andMore(total - rows.length)}
    </AppLink>
  )
}
