import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type IndicatorLine, tilesQuery } from '../../../api/queries/monitoring/indicator'
import { monitorLook } from '../../../lib/state'
import { IndicatorTile } from '../../../ui/indicators/IndicatorTile'
import { bySeverity } from '../../../ui/monitoring/display'
import { useText } from '../text'
import { OverviewMore } from './OverviewRest'

const MOST = 24

/** Not drawn at all where there is none. */
export function IndicatorTiles() {
  const t = useText()
  const { data } = useQuery(tilesQuery)
  const [isExpanded, setExpanded] = useState(false)
  if (!data?.rows.length) return null
  const sorted = data.rows.toSorted(bySeverity)
  const visible = isExpanded ? sorted : fewest(sorted)
  return (
    <section aria-label={t.indicators}>
      <div className="tiles">
        {visible.map((tile) => (
          <IndicatorTile key={tile.id} indicator={tile} />
        ))}
      </div>
      {visible.length < sorted.length || isExpanded ? (
        <Button size="compact-xs" variant="subtle" mt={8} onClick={() => setExpanded(!isExpanded)}>
          {isExpanded ? t.fewerTiles : t.moreTiles(sorted.length - visible.length)}
        </Button>
      ) : null}
      <OverviewMore of={data} to="/indicators" />
    </section>
  )
}

/** Many healthy tiles must not push failing ones off the screen. */
function fewest(sorted: IndicatorLine[]): IndicatorLine[] {
  const needed = sorted.filter((tile) => monitorLook(tile) !== 'ok' || tile.sticky).length
  return sorted.slice(0, Math.max(MOST, needed))
}
