import { Box, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { tilesQuery } from '../../api/queries/indicator'
import { useText as useAppText } from '../../app/text'
import { usePageTitle } from '../../app/title'
import { byNeed } from '../../ui/watch/show'
import { Tile } from '../../ui/watch/Tile'
import { HostsCard } from './HostsCard'
import { JobsCard } from './JobsCard'
import { MonitorsCard } from './MonitorsCard'
import { NeedsCard } from './NeedsCard'
import { useText } from './text'
import './dashboard.css'

/** Everything that needs eyes, worst first. */
export function DashboardPage() {
  usePageTitle(useAppText().dashboard)
  return (
    <Stack gap="md">
      <Tiles />
      <Box className="dash-cols">
        <Stack gap="md">
          <MonitorsCard />
          <HostsCard />
        </Stack>
        <Stack gap="md">
          <NeedsCard />
          <JobsCard />
        </Stack>
      </Box>
    </Stack>
  )
}

/** Not drawn at all where there is none. */
function Tiles() {
  const t = useText()
  const { data = [] } = useQuery(tilesQuery)
  if (data.length === 0) return null
  return (
    <section className="tiles" aria-label={t.indicators}>
      {data.toSorted(byNeed).map((one) => (
        <Tile key={one.id} one={one} />
      ))}
    </section>
  )
}
