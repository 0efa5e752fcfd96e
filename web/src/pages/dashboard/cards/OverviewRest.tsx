import { AppLink } from '../../../ui/AppLink'
import { useWords } from '../../../ui/text'

interface Props {
  of: { rows: unknown[]; total: number | null }
  to: string
}

/** What a card does not show, and where it is; nothing when it shows all. */
export function OverviewMore({ of: { rows, total }, to }: Props) {
  const w = useWords()
  if (total === null || total <= rows.length) return null
  return (
    <AppLink to={to} className="row dash-more">
      {w.andMore(total - rows.length)}
    </AppLink>
  )
}
