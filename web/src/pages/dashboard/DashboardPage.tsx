import { useText } from '../../app/text'
import { usePageTitle } from '../../app/title'

export function DashboardPage() {
  usePageTitle(useText().dashboard)
  return null
}
